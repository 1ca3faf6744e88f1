import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

import { ForbiddenException } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';

const ALLOWED_HEADERS = 'Content-Type, Mcp-Protocol-Version, X-Correlation-ID, X-Idempotency-Key';
const EXPOSED_HEADERS = 'Retry-After, X-Correlation-ID, X-Idempotency-Mismatch, X-Idempotency-Replayed, X-Request-ID';
const PREFLIGHT_SECONDS = '600';

/**
 * Refuses requests that a browser sends for a page of another origin, unless `corsOrigins` lists that origin; a listed
 * origin gets the CORS headers. The service has no authentication, so otherwise any page that a user visits could
 * publish.
 */
export function checkOrigins(corsOrigins: string[]) {
  const listed = listedOrigins(corsOrigins);
  const refusalOf = originRefusals(corsOrigins);
  return (request: Request, response: Response, next: NextFunction): void => {
    const { origin } = request.headers;
    if (origin !== undefined && listed.has(origin.toLowerCase())) answerCors(origin, request, response, next);
    else next(refusalOf(request));
  };
}

/** Returns the error for a request from a page of another origin; undefined if the request is allowed. */
export function originRefusals(
  corsOrigins: string[],
): (request: Pick<IncomingMessage, 'headers' | 'method'>) => Error | undefined {
  const listed = listedOrigins(corsOrigins);
  return ({ headers, method }) => {
    const { origin, host } = headers;
    if (origin === undefined) {
      if (isForeignSubresource(headers)) return refusal('another site');
      return isFormWithoutOrigin(headers, method)
        ? new ForbiddenException(
            'A form that a browser sends must have an Origin header; send the request from a script or a program',
          )
        : undefined;
    }
    return listed.has(origin.toLowerCase()) || isSameOrigin(origin, host) ? undefined : refusal(`Origin ${origin}`);
  };
}

const listedOrigins = (corsOrigins: string[]): Set<string> =>
  new Set(corsOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, '')));

const refusal = (from: string): Error =>
  new ForbiddenException(`Requests from ${from} are not allowed; add the origin to cors_origins`);

/** Ignores the scheme: behind a proxy that terminates TLS, the page uses https and this server http. */
const isSameOrigin = (origin: string, host: string | undefined): boolean =>
  host !== undefined && origin.toLowerCase().replace(/^https?:\/\//, '') === host.toLowerCase();

/**
 * Browsers send no `Origin` with another site's `<img>` or no-cors GET, but they set `Sec-Fetch-Site`. Following a link
 * is allowed.
 */
function isForeignSubresource(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  return (site === 'cross-site' || site === 'same-site') && headers['sec-fetch-mode'] !== 'navigate';
}

/**
 * Following a link is a GET, and browsers send `Origin` with each form. Otherwise a page that suppresses the header
 * could upload on behalf of its visitor.
 */
const isFormWithoutOrigin = (headers: IncomingHttpHeaders, method: string | undefined): boolean =>
  headers['sec-fetch-mode'] === 'navigate' && method !== 'GET' && method !== 'HEAD';

function answerCors(origin: string, request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Vary', 'Origin');
  response.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS);
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return next();
  response.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, DELETE');
  response.setHeader('Access-Control-Allow-Headers', ALLOWED_HEADERS);
  response.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
  response.status(204).end();
}
