import { type Server, ServerResponse } from 'node:http';
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
import { isUpload, parseJsonBodies } from './bodies/body-parser.js';
import { IncomingBodies, incomingBody } from './bodies/incoming-bodies.js';
import { limitPipelining } from './connections/pipelining.js';
import { takeTurns } from './connections/request-turns.js';
import { SlowReaders } from './connections/slow-readers.js';
import { WaitingRequests } from './connections/waiting-requests.js';
import { ErrorFilter } from './errors/error-filter.js';
import { answerProtocolErrors } from './errors/protocol-errors.js';
import { checkMethods } from './middleware/allowed-methods.js';
import { checkHosts } from './middleware/host-check.js';
import { checkOrigins } from './middleware/origin-check.js';
import { checkPaths } from './middleware/path-check.js';
import { answerProbesAlone } from './middleware/probes.js';
import { type EndedRequest, observeRequests } from './middleware/request-observer.js';
import { traceRequests } from './middleware/request-tracing.js';
import { setSecurityHeaders } from './middleware/security-headers.js';
import { jsonSender } from './responses/send-json.js';
import { ValidationPipe } from './validation/validation-pipe.js';

export interface HttpEdge {
  settings: Pick<
    Settings,
    | 'host'
    | 'allowedHosts'
    | 'corsOrigins'
    | 'bodyLimitBytes'
    | 'requestTimeoutMs'
    | 'uploadTimeoutMs'
    | 'minTransferRateBytes'
    | 'maxConnections'
  >;
  clock: Clock;
  memory: MemoryBudget;
  role: Role;
  logger: Logger;
  tracing: Tracing;
  onEnded: (request: EndedRequest) => void;
}

/**
 * Longer than proxies keep idle connections (often 60 s), so that they never send a request into a connection that is
 * closing.
 */
const KEEP_ALIVE_MS = 65_000;

/** Time limit for the headers of a request. */
const HEADERS_MS = 60_000;

/**
 * The maximum number of bytes of a body that are taken from the connection while its reader, such as a slow disk, is
 * behind. Node's default of 64 KiB takes 18 MB of memory if it arrives in parts of one byte.
 */
const MOST_UNREAD_BYTES = 4 * 1_024;

/**
 * Installs all that surrounds the routes: middleware, pipes, error filter, server limits. Needs `bodyParser: false`.
 */
export function installHttpEdge(
  app: NestExpressApplication,
  { settings, clock, memory, role, logger, tracing, onEnded }: HttpEdge,
): void {
  app.disable('x-powered-by');
  app.disable('etag');
  Object.assign(app.getHttpAdapter().getInstance().response, { json: jsonSender(memory), end: endAndRelease });
  // No nested objects. The 16 KiB limit of the URL bounds the number of parameters, and none is dropped silently.
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
  takeTurns(app.getHttpServer());
  limitPipelining(app.getHttpServer(), waiting, logger);
  limitConnections(app.getHttpServer(), settings.maxConnections, clock, logger);
  new SlowReaders(clock, memory, settings.minTransferRateBytes).watch(app.getHttpServer());
}

/** Limits the time of every body, even if no handler reads it. */
function watchBodies(
  { requestTimeoutMs, uploadTimeoutMs }: HttpEdge['settings'],
  bodies: IncomingBodies,
): RequestHandler {
  return (request, response, next) => {
    const { headers } = request;
    const announcesBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    if (announcesBody) bodies.begin(request, response, isUpload(request) ? uploadTimeoutMs : requestTimeoutMs);
    next();
  };
}

/**
 * Replaces the response's `end`, to release the request's body with the answer. The close of the connection is too
 * early, because a handler continues after its client has disconnected.
 */
function endAndRelease(this: Response, ...answer: Parameters<ServerResponse['end']>): ServerResponse {
  incomingBody(this.req)?.end();
  return ServerResponse.prototype.end.apply(this, answer);
}

/** Combines handlers into one, because Express matches each of its handlers against the path of every request. */
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
    // This applies to requests that never reach `watchBodies`, which has a limit for each route.
    requestTimeout: HEADERS_MS + Math.max(requestTimeoutMs, uploadTimeoutMs),
    // Node would answer a missing Host header with an empty body. `checkHosts` answers with a message.
    requireHostHeader: false,
  });
  // Requests take this value from their connections. Nothing else reads it: a connection's own bytes go straight to
  // Node's parser.
  server.on('connection', (socket: Socket) =>
    Object.defineProperty(socket, 'readableHighWaterMark', { value: MOST_UNREAD_BYTES }),
  );
  answerProtocolErrors(server);
}

const REPORT_EVERY_MS = 60_000;

/**
 * Node closes connections above the limit immediately, without an answer. The log reports their number at most once a
 * minute.
 */
function limitConnections(server: Server, maxConnections: number, clock: Clock, logger: Logger): void {
  let dropped = 0;
  let reportAt = -Infinity;
  server.maxConnections = maxConnections;
  server.on('drop', () => {
    dropped += 1;
    if (clock.now() < reportAt) return;
    logger.warn({ dropped }, `${maxConnections} connections are open; new ones are closed (max_connections)`);
    dropped = 0;
    reportAt = clock.now() + REPORT_EVERY_MS;
  });
}
