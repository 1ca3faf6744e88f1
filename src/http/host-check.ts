import { BadRequestException, ForbiddenException } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import type { NextFunction, Request, Response } from 'express';

/**
 * While bound to loopback, refuses requests whose `Host` is neither loopback nor in `allowedHosts`: a web page that has
 * its own name resolve to 127.0.0.1 (DNS rebinding) would else drive this server with its reader's browser.
 */
export function checkHosts(boundTo: string, allowedHosts: string[]) {
  const refusalOf = hostRefusals(boundTo, allowedHosts);
  return (request: Request, _response: Response, next: NextFunction): void => next(refusalOf(request.headers));
}

/** Why a request is refused for its host; undefined where it is not. */
export function hostRefusals(boundTo: string, allowedHosts: string[]): (headers: IncomingHttpHeaders) => Error | undefined {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  const guarded = isLoopback(boundTo);
  return ({ host }) => {
    if (host === undefined) return new BadRequestException('The request has no Host header');
    if (!guarded || isAllowed(host, allowed)) return undefined;
    return new ForbiddenException(`Host ${host} is not allowed; add it to allowed_hosts`);
  };
}

/** Listed with its port, a host is allowed at that port alone. */
function isAllowed(host: string, allowed: Set<string>): boolean {
  const name = hostname(host);
  return isLoopback(name) || allowed.has(name) || allowed.has(host.toLowerCase());
}

const hostname = (host: string): string => host.toLowerCase().replace(/:\d*$/, '');

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
