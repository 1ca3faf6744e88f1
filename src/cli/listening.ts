import { lookup } from 'node:dns/promises';
import type { AddressInfo } from 'node:net';

import type { INestApplication } from '@nestjs/common';

import { isLoopbackAddress } from '../common/ip-address.js';
import { Settings } from '../config/settings.js';
import { StartError } from '../database/start-error.js';

/**
 * Replaces the `host` in the settings by its IP address, so that a name that resolves to loopback gets the checks of
 * loopback. Throws a StartError if the name does not resolve.
 */
export async function withAddress(settings: Settings): Promise<Settings> {
  const { host, port } = settings;
  try {
    const { address } = await lookup(host);
    return Object.assign(new Settings(), settings, { host: address });
  } catch (error) {
    throw new StartError(whyNotListening((error as NodeJS.ErrnoException).code, host, port));
  }
}

/**
 * Listens on this address and returns the bound address, because port 0 picks a free one. Throws a StartError if that
 * is not possible. `host` is the original setting.
 */
export async function listen(app: INestApplication, address: string, { host, port }: Settings): Promise<AddressInfo> {
  try {
    await app.listen(port, address);
  } catch (error) {
    await app.close();
    throw new StartError(whyNotListening((error as NodeJS.ErrnoException).code, host, port));
  }
  return (app.getHttpServer() as { address(): AddressInfo }).address();
}

/** A warning if the service can be reached from other machines and hosts are not checked; otherwise null. */
export function openWarning(bound: AddressInfo, allowedHosts: readonly string[]): string | null {
  if (isLoopbackAddress(bound.address) || allowedHosts.length > 0) return null;
  return (
    `host: bound to ${addressText(bound)} without allowed_hosts and without authentication; ` +
    'put a proxy that authenticates in front, and list the names that clients use in allowed_hosts'
  );
}

/** `127.0.0.1:8344`, `[::]:8344`. */
export const addressText = ({ address, port }: AddressInfo): string =>
  `${address.includes(':') ? `[${address}]` : address}:${port}`;

/** A URL that can be called. A wildcard address cannot. */
export function callableUrl(bound: AddressInfo): string {
  return isWildcard(bound) ? `http://localhost:${bound.port}` : `http://${addressText(bound)}`;
}

export const isWildcard = ({ address }: AddressInfo): boolean => address === '0.0.0.0' || address === '::';

function whyNotListening(code: string | undefined, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `port: ${port} on ${host} is in use by another program; stop it, or choose another port with --port`;
    case 'EACCES':
      return `port: this user has no permission to listen on ${port}; choose one above 1023 with --port`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `host: ${host} is not an address of this machine; choose another with --host`;
    default:
      return `port: cannot listen on ${port} on ${host} (${code}); choose another with --port or --host`;
  }
}
