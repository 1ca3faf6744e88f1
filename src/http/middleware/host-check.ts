import { BadRequestException, ForbiddenException } from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { isLoopbackAddress } from '../../common/loopback.js';
import { PROBES } from './probes.js';

/** What of a request decides. */
type HostedRequest = Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'url'>;

/**
 * Refuses requests whose `Host` is neither loopback nor in `allowedHosts`: a web page that has its own name resolve to this server (DNS
 * rebinding) would else drive it with its reader's browser. Holds while bound to loopback, and on every address where `allowedHosts` is
 * given. `boundTo` is an IP address.
 */
export function checkHosts(boundTo: string, allowedHosts: string[]) {
  const refusalOf = hostRefusals(boundTo, allowedHosts);
  return (request: Request, _response: Response, next: NextFunction): void => next(refusalOf(request));
}

/** Why a request is refused for its host; undefined where it is not. */
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

/** RFC 9112, section 3.2: a proxy may have gone by the other one. Names and values take turns. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/** Orchestrators and scrapers call each process by its own address, which nobody knows beforehand. */
const isProbe = (url = ''): boolean => PROBES.has(url.split('?', 1)[0]!);

/** How almost every client on this machine writes it. */
const USUAL_LOOPBACK = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/;

/** Listed with its port, a host is allowed at that port alone. */
function isAllowed(host: string, allowed: Set<string>): boolean {
  if (USUAL_LOOPBACK.test(host)) return true;
  const whole = plainForm(host);
  const name = whole.replace(/:\d+$/, '');
  return isLoopback(name) || allowed.has(name) || allowed.has(whole);
}

/** Equal for two ways to write one host: in lower case, without the dot that ends a full name, and IPv6 in its shortest form. */
function plainForm(host: string): string {
  const [, name = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(host.toLowerCase()) ?? [];
  const plain = name.startsWith('[') ? (URL.parse(`http://${name}`)?.hostname ?? '') : name.replace(/\.$/, '');
  return port === '' ? plain : `${plain}:${port}`;
}

const isLoopback = (name: string): boolean =>
  name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name.startsWith('[') ? name.slice(1, -1) : name);
