import type { IncomingMessage } from 'node:http';

import { BadRequestException, ForbiddenException } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';

import { isLoopbackAddress } from '../../common/ip-address.js';
import { PROBES } from './probes.js';

/** The parts of a request that the check needs. */
type HostedRequest = Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'url'>;

/**
 * Refuses requests whose `Host` is neither loopback nor in `allowedHosts`. Otherwise a web page whose own name resolves
 * to this server (DNS rebinding) could control it through its visitor's browser. Applies if the server is bound to
 * loopback, or if `allowedHosts` is not empty. `boundTo` is an IP address.
 */
export function checkHosts(boundTo: string, allowedHosts: string[]) {
  const refusalOf = hostRefusals(boundTo, allowedHosts);
  return (request: Request, _response: Response, next: NextFunction): void => next(refusalOf(request));
}

/** Returns the error for a request with a wrong host; undefined if the host is allowed. */
export function hostRefusals(boundTo: string, allowedHosts: string[]): (request: HostedRequest) => Error | undefined {
  const allowed = new Set(allowedHosts.map(plainForm));
  const onLoopback = isLoopbackAddress(boundTo);
  return ({ headers: { host }, rawHeaders, url }) => {
    if (host === undefined) return new BadRequestException('The request has no Host header');
    if (hasTwoHosts(rawHeaders)) return new BadRequestException('The request has more than one Host header');
    if (!onLoopback && (allowed.size === 0 || isProbe(url))) return undefined;
    if (isAllowed(host, allowed)) return undefined;
    return new ForbiddenException(`Host ${host} is not allowed; add it to allowed_hosts`);
  };
}

/** RFC 9112, section 3.2: a proxy may have used the other header. `rawHeaders` alternates names and values. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/** Orchestrators and scrapers call each process at its own address, which cannot be listed in advance. */
const isProbe = (url = ''): boolean => PROBES.has(url.split('?', 1)[0]!);

/** The form that almost every client on this machine sends. A fast path. */
const USUAL_LOOPBACK = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/;

/** A host that is listed with a port is allowed only with that port. */
function isAllowed(host: string, allowed: Set<string>): boolean {
  if (USUAL_LOOPBACK.test(host)) return true;
  const whole = plainForm(host);
  const name = whole.replace(/:\d+$/, '');
  return isLoopback(name) || allowed.has(name) || allowed.has(whole);
}

/** The canonical form of a host: lower case, without a trailing dot, IPv6 in its shortest form. */
function plainForm(host: string): string {
  const [, name = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(host.toLowerCase()) ?? [];
  const plain = name.startsWith('[') ? (URL.parse(`http://${name}`)?.hostname ?? '') : name.replace(/\.$/, '');
  return port === '' ? plain : `${plain}:${port}`;
}

const isLoopback = (name: string): boolean =>
  name === 'localhost' ||
  name.endsWith('.localhost') ||
  isLoopbackAddress(name.startsWith('[') ? name.slice(1, -1) : name);
