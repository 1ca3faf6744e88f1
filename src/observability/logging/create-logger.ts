import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';

import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

import { scheduler } from '../../common/scheduler.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { Settings } from '../../config/settings.js';
import { throttleRepeatedErrors } from './repeated-errors.js';

/** Characters that are written immediately. */
const BLOCK = 8 * 1_024;
/** A line waits at most this long for others. */
const LONGEST_WAIT_MS = 10;

/** The maximum number of log bytes that are kept for a reader that has stopped reading. Further lines are dropped. */
const LONGEST_BACKLOG = 16 * 1_024 * 1_024;

/** Redacted as a last defence. No code logs these on purpose. */
const SECRETS = [
  'webhookSecret',
  'webhook_secret',
  'secretKey',
  'secret_key',
  'secret',
  'secrets',
  'webhook.secret',
  'target.secrets',
  'headers.authorization',
  'headers.cookie',
  'req.headers.authorization',
  'req.headers.cookie',
];

const OPTIONS: LoggerOptions = {
  base: undefined,
  timestamp: () => `,"time":"${toTimestamp(scheduler.time())}"`,
  formatters: { level: (level) => ({ level }) },
  redact: { paths: SECRETS, censor: '[secret]' },
};

/** Standard output, or its replacement in a test. */
export interface LogOutput {
  fd: number;
  isTTY?: boolean;
  write(text: string): unknown;
}

/** Creates the process's logger. It writes JSON lines to `output`, or a readable form if that is a terminal or if `isReadable`. */
export function createLogger(
  { logLevel }: Pick<Settings, 'logLevel'>,
  output: LogOutput = process.stdout,
  isReadable = output.isTTY,
): Logger {
  return pino(
    { ...OPTIONS, level: logLevel, hooks: { logMethod: throttleRepeatedErrors() } },
    isReadable ? readable(output) : lines(output),
  );
}

// Asynchronous, so that a request never waits for its log line. Lines that follow each other closely are written together,
// because each write takes as long as a query.
function lines({ fd }: LogOutput): DestinationStream & { flush(done: (error?: Error) => void): void } {
  const destination = pino.destination({ dest: fd, sync: false, minLength: BLOCK, maxLength: LONGEST_BACKLOG });
  // A full disk must not end the service. Lines that could not be written are tried again with the next line.
  destination.on('error', () => undefined);
  let isWaiting = false;
  return {
    write(line) {
      destination.write(line);
      if (isWaiting) return;
      isWaiting = true;
      scheduler.after(LONGEST_WAIT_MS, () => {
        isWaiting = false;
        destination.flush();
      });
    },
    flush: (done) => destination.flush(done),
  };
}

// This is not pino-pretty's own stream, which writes later and loses the last lines before an exit.
function readable(output: LogOutput): DestinationStream {
  // Loaded only here, because a service writes JSON.
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
  const prettify = prettyFactory({ colorize: output.isTTY, singleLine: true, translateTime: 'SYS:HH:MM:ss.l' });
  return { write: (line) => void output.write(prettify(line)) };
}

/** Resolves when all lines so far are written, or after a second if the reader does not take them. */
export async function flushLog(logger: Logger): Promise<void> {
  const written = new Promise<void>((resolve) => logger.flush(() => resolve()));
  await Promise.race([written, delay(1_000, undefined, { ref: false })]);
}
