import type { LoggerService } from '@nestjs/common';
import type { Logger } from 'pino';

/** Contexts in which Nest logs each module and route that it sets up. */
const CHATTY = new Set([
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestFactory',
  'NestApplication',
  'NestMicroservice',
]);

/** Contexts of errors that stop the start. They also reach the entry point, which reports them itself. */
const RETHROWN = new Set(['ExceptionHandler', 'NestApplication']);

/** Makes Nest log through pino. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    const context = contextOf(rest);
    this.write(context && CHATTY.has(context) ? 'debug' : 'info', message, context);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, contextOf(rest));
  }

  /** Nest passes a stack, if it has one, before the context. */
  error(message: unknown, ...rest: unknown[]): void {
    const context = contextOf(rest);
    this.write(context && RETHROWN.has(context) ? 'debug' : 'error', message, context, rest.find(isStack));
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, contextOf(rest));
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, contextOf(rest));
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, contextOf(rest));
  }

  private write(
    level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal',
    message: unknown,
    context?: string,
    stack?: unknown,
  ): void {
    const about = { ...(context && { context }), ...(stack !== undefined && { stack }) };
    if (message instanceof Error) this.logger[level]({ ...about, err: message }, message.message);
    else this.logger[level](about, typeof message === 'string' ? message : JSON.stringify(message));
  }
}

function contextOf(rest: unknown[]): string | undefined {
  const last = rest.at(-1);
  return typeof last === 'string' && !isStack(last) ? last : undefined;
}

const isStack = (part: unknown): boolean => typeof part === 'string' && part.includes('\n');
