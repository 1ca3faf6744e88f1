import { parse } from 'node:querystring';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Role } from '../common/role.js';
import type { Settings } from '../config/settings.js';
import { NoTracing, type Tracing } from '../tracing/tracing.js';
import { parseJsonBodies } from './body-parser.js';
import { ErrorFilter } from './error-filter.js';
import { checkHosts } from './host-check.js';
import { checkOrigins } from './origin-check.js';
import { checkPaths } from './path-check.js';
import { answerProbesAlone } from './probes.js';
import { answerProtocolErrors } from './protocol-errors.js';
import { type EndedRequest, observeRequests } from './request-observer.js';
import { traceRequests } from './request-tracing.js';
import { setSecurityHeaders } from './security-headers.js';
import { sendJson } from './send-json.js';
import { ValidationPipe } from './validation-pipe.js';

export interface HttpEdge {
  settings: Pick<Settings, 'host' | 'allowedHosts' | 'corsOrigins' | 'bodyLimitBytes'>;
  role: Role;
  logger: Logger;
  tracing: Tracing;
  onEnded: (request: EndedRequest) => void;
}

/** Longer than proxies keep idle connections (60 s is common), so that they never send into one that is just closing. */
const KEEP_ALIVE_MS = 65_000;

/** For a whole request to arrive: an upload of a gigabyte over a slow line takes longer than Node's five minutes. */
const ARRIVAL_MS = 3_600_000;

/** What every request passes before its route, and every error after it. For an app made with `bodyParser: false`. */
export function installHttpEdge(app: NestExpressApplication, { settings, role, logger, tracing, onEnded }: HttpEdge): void {
  app.disable('x-powered-by');
  app.disable('etag');
  app.getHttpAdapter().getInstance().response.json = sendJson;
  // No nested objects; the URL's own limit of 16 KiB bounds their number, and none is dropped silently.
  app.set('query parser', (query: string) => parse(query, '&', '=', { maxKeys: 0 }));
  app.use(
    oneAfterTheOther(
      observeRequests(logger, onEnded),
      setSecurityHeaders(),
      checkHosts(settings.host, settings.allowedHosts),
      checkOrigins(settings.corsOrigins),
      checkPaths(),
      ...(role.serves ? [] : [answerProbesAlone()]),
      parseJsonBodies(settings.bodyLimitBytes),
      ...(tracing instanceof NoTracing ? [] : [traceRequests(tracing)]),
    ),
  );
  app.useGlobalPipes(new ValidationPipe());
  app.useGlobalFilters(new ErrorFilter(logger));
  tuneServer(app);
}

/** As one handler: Express matches each of its own against the path, on every request. */
function oneAfterTheOther(...handlers: RequestHandler[]): RequestHandler {
  return (request, response, done) => {
    let index = 0;
    const next: NextFunction = (error?: unknown) => {
      if (error !== undefined || index === handlers.length) done(error);
      else void handlers[index++]!(request, response, next);
    };
    next();
  };
}

function tuneServer(app: NestExpressApplication): void {
  const server = app.getHttpServer();
  // Node answers a missing Host header with an empty body; `checkHosts` says what is missing.
  Object.assign(server, { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: ARRIVAL_MS, requireHostHeader: false });
  answerProtocolErrors(server);
}
