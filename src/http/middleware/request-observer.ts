import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';

import { newId } from '../../common/ids.js';
import { scheduler } from '../../common/scheduler.js';
import { PROBES } from './probes.js';

const REQUEST_ID = 'X-Request-ID';

/** The data of a request for metrics. `route` is the pattern, not the path, because there are few patterns. */
export interface EndedRequest {
  method: string;
  route: string;
  status: number;
  durationMs: number;
}

const STREAMING = Symbol('streaming');

/** Marks an answer as an endless stream: the request counts as ended now. */
export const answersAsStream = (response: Response): void => void response.emit(STREAMING);

/**
 * Gives every request an id, and reports its end to log and metrics. First in the chain, so that every answer has an
 * id.
 */
export function observeRequests(logger: Logger, onEnded: (request: EndedRequest) => void) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const started = scheduler.elapsed();
    response.setHeader(REQUEST_ID, newId());
    let isReported = false;
    const report = (): void => {
      if (isReported) return;
      isReported = true;
      const durationMs = scheduler.elapsed() - started;
      const route = (request.route as { path?: string } | undefined)?.path ?? 'unmatched';
      onEnded({ method: request.method, route, status: response.statusCode, durationMs });
      log(logger, request, response, durationMs);
    };
    response.on(STREAMING, report).on('close', report);
    next();
  };
}

/** Logs the path without its query, because query values can be a caller's data. */
function log(logger: Logger, request: Request, response: Response, durationMs: number): void {
  const path = pathOf(request.originalUrl);
  // Probes are frequent: at info they would hide other lines.
  const level = PROBES.has(path) ? 'debug' : 'info';
  if (!logger.isLevelEnabled(level)) return;
  const line = {
    method: request.method,
    path,
    status: response.statusCode,
    ms: Math.round(durationMs * 10) / 10,
    request_id: requestIdOf(response),
    correlation_id: response.getHeader('X-Correlation-ID'),
    // The caller disconnected before its answer was sent.
    aborted: response.writableFinished || !response.destroyed ? undefined : true,
  };
  logger[level](line, 'request');
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

export const requestIdOf = (response: Response): string => String(response.getHeader(REQUEST_ID));
