import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { parse } from 'node:querystring';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { Clock } from '../common/clock.js';
import type { MemoryBudget } from '../common/memory-budget.js';
import type { Role } from '../common/role.js';
import type { Settings } from '../config/settings.js';
import { NoTracing, type Tracing } from '../observability/tracing/tracing.js';
import { checkMethods } from './middleware/allowed-methods.js';
import { isUpload, parseJsonBodies } from './bodies/body-parser.js';
import { limitConnections } from './connections/connection-limit.js';
import { ErrorFilter } from './errors/error-filter.js';
import { checkHosts } from './middleware/host-check.js';
import { IncomingBodies, incomingBody } from './bodies/incoming-bodies.js';
import { checkOrigins } from './middleware/origin-check.js';
import { checkPaths } from './middleware/path-check.js';
import { limitPipelining } from './connections/pipelining.js';
import { answerProbesAlone } from './middleware/probes.js';
import { answerProtocolErrors } from './errors/protocol-errors.js';
import { type EndedRequest, observeRequests } from './middleware/request-observer.js';
import { traceRequests } from './middleware/request-tracing.js';
import { setSecurityHeaders } from './middleware/security-headers.js';
import { jsonSender } from './responses/send-json.js';
import { SlowReaders } from './connections/slow-readers.js';
import { ValidationPipe } from './validation/validation-pipe.js';
import { WaitingRequests } from './connections/waiting-requests.js';

export interface HttpEdge {
  settings: Pick<Settings, 'host' | 'allowedHosts' | 'corsOrigins' | 'bodyLimitBytes' | 'requestTimeoutMs' | 'uploadTimeoutMs' | 'minTransferRateBytes' | 'maxConnections'>;
  clock: Clock;
  memory: MemoryBudget;
  role: Role;
  logger: Logger;
  tracing: Tracing;
  onEnded: (request: EndedRequest) => void;
}

/** Longer than proxies keep idle connections (60 s is common), so that they never send into one that is just closing. */
const KEEP_ALIVE_MS = 65_000;

/** For the headers of a request to arrive. */
const HEADERS_MS = 60_000;

/**
 * Of a body that waits for its reader, such as a slow disk, beyond which no more is taken from the connection. Node's 64 KiB in parts of one
 * byte take 18 MB of memory.
 */
const MOST_UNREAD_BYTES = 4 * 1_024;

/** What every request passes before its route, and every error after it. For an app made with `bodyParser: false`. */
export function installHttpEdge(app: NestExpressApplication, { settings, clock, memory, role, logger, tracing, onEnded }: HttpEdge): void {
  app.disable('x-powered-by');
  app.disable('etag');
  Object.assign(app.getHttpAdapter().getInstance().response, { json: jsonSender(memory), end: endAndRelease });
  // No nested objects; the URL's own limit of 16 KiB bounds their number, and none is dropped silently.
  app.set('query parser', (query: string) => parse(query, '&', '=', { maxKeys: 0 }));
  const waiting = new WaitingRequests(memory);
  app.use(
    oneAfterTheOther(
      observeRequests(logger, onEnded),
      watchBodies(settings, new IncomingBodies(clock, memory, settings.minTransferRateBytes, waiting)),
      setSecurityHeaders(),
      checkHosts(settings.host, settings.allowedHosts),
      checkOrigins(settings.corsOrigins),
      checkPaths(),
      checkMethods(),
      ...(role.api ? [] : [answerProbesAlone()]),
      parseJsonBodies(settings.bodyLimitBytes, memory),
      ...(tracing instanceof NoTracing ? [] : [traceRequests(tracing)]),
    ),
  );
  app.useGlobalPipes(new ValidationPipe());
  app.useGlobalFilters(new ErrorFilter(logger));
  tuneServer(app, settings);
  limitPipelining(app.getHttpServer(), waiting, logger);
  limitConnections(app.getHttpServer(), settings.maxConnections, clock, logger);
  new SlowReaders(clock, memory, settings.minTransferRateBytes).watch(app.getHttpServer());
}

/** Every body has its time to arrive, one that nobody reads too. */
function watchBodies({ requestTimeoutMs, uploadTimeoutMs }: HttpEdge['settings'], bodies: IncomingBodies): RequestHandler {
  return (request, response, next) => {
    const { headers } = request;
    const announcesBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    if (announcesBody) bodies.begin(request, response, isUpload(request) ? uploadTimeoutMs : requestTimeoutMs);
    next();
  };
}

/**
 * Stands in for the response's `end`: from the answer on, a request's body is in nobody's hands any more. Not when its connection
 * closes, since a handler works on after its client has hung up.
 */
function endAndRelease(this: Response, ...answer: Parameters<ServerResponse['end']>): ServerResponse {
  incomingBody(this.req)?.end();
  return ServerResponse.prototype.end.apply(this, answer);
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

function tuneServer(app: NestExpressApplication, { requestTimeoutMs, uploadTimeoutMs }: HttpEdge['settings']): void {
  const server = app.getHttpServer();
  Object.assign(server, {
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: Math.min(HEADERS_MS, requestTimeoutMs),
    // For what never comes to `watchBodies`, which has a time for each route.
    requestTimeout: HEADERS_MS + Math.max(requestTimeoutMs, uploadTimeoutMs),
    // Node answers a missing Host header with an empty body; `checkHosts` says what is missing.
    requireHostHeader: false,
  });
  // Requests take it from their connections. Read by nobody else: a connection's own bytes go to Node's parser as they come.
  server.on('connection', (socket: Socket) => Object.defineProperty(socket, 'readableHighWaterMark', { value: MOST_UNREAD_BYTES }));
  answerProtocolErrors(server);
}
