import type { NextFunction, Request, Response } from 'express';

import type { Tracing } from '../../observability/tracing/tracing.js';
import { requestIdOf } from './request-observer.js';

/**
 * Makes a span for each POST, in the caller's trace if the request names one (W3C Trace Context); reads have no spans.
 * Names follow OpenTelemetry's conventions for HTTP spans. Must come after the body parser: handlers that are called
 * from the request's stream would lose the current span.
 */
export function traceRequests(tracing: Tracing) {
  return (request: Request, response: Response, next: NextFunction): void => {
    if (request.method !== 'POST') return next();
    const span = tracing.start('POST', {
      kind: 'server',
      parent: traceparentOf(request),
      attributes: { 'http.request.method': 'POST' },
    });
    response.once('close', () => {
      const { statusCode } = response;
      const route = (request.route as { path?: string } | undefined)?.path;
      const failed = statusCode >= 500;
      span.end({
        name: route === undefined ? 'POST' : `POST ${route}`,
        attributes: {
          'http.route': route,
          'http.response.status_code': statusCode,
          'error.type': failed ? String(statusCode) : undefined,
          'starling.request.id': requestIdOf(response),
          'starling.correlation.id': response.getHeader('X-Correlation-ID') as string | undefined,
        },
        failed,
      });
    });
    tracing.within(span, next);
  };
}

const traceparentOf = ({ headers }: Request): string | null =>
  typeof headers.traceparent === 'string' ? headers.traceparent : null;
