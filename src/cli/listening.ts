import { lookup } from 'node:dns/promises';
import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { isLoopbackAddress } from '../common/loopback.js';
import { Settings } from '../config/settings.js';
import { StartError } from '../database/start-error.js';

/** The settings with an IP address as their `host`, so that a name that leads to loopback is guarded as loopback is. StartError where it leads nowhere. */
export async function withAddress(settings: Settings): Promise<Settings> {
  const { host, port } = settings;
  try {
    const { address } = await lookup(host);
    return Object.assign(new Settings(), settings, { host: address });
  } catch (error) {
    throw new StartError(whyNotListening((error as NodeJS.ErrnoException).code, host, port));
  }
}

/** Listens on this address, and gives back where: port 0 takes a free one. StartError where it cannot be had; `host` is as it was given. */
export async function listen(app: INestApplication, address: string, { host, port }: Settings): Promise<AddressInfo> {
  try {
    await app.listen(port, address);
  } catch (error) {
    await app.close();
    throw new StartError(whyNotListening((error as NodeJS.ErrnoException).code, host, port));
  }
  return (app.getHttpServer() as { address(): AddressInfo }).address();
}

/** What an operator should know who opens the service beyond this machine; null where it is not, or where names are checked. */
export function openWarning(bound: AddressInfo, allowedHosts: readonly string[]): string | null {
  if (isLoopbackAddress(bound.address) || allowedHosts.length > 0) return null;
  return (
    `host: bound to ${addressText(bound)} without allowed_hosts: whoever reaches this port may do everything, since there is no authentication; ` +
    'put a proxy that has it in front, and list in allowed_hosts the names that clients use'
  );
}

/** `127.0.0.1:8344`, `[::]:8344`. */
export const addressText = ({ address, port }: AddressInfo): string => `${address.includes(':') ? `[${address}]` : address}:${port}`;

/** The URL to type: a wildcard is not an address that one can call. */
export function callableUrl(bound: AddressInfo): string {
  return isWildcard(bound) ? `http://localhost:${bound.port}` : `http://${addressText(bound)}`;
}

export const isWildcard = ({ address }: AddressInfo): boolean => address === '0.0.0.0' || address === '::';

function whyNotListening(code: string | undefined, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `port: ${port} on ${host} is in use by another program; stop it, or choose another port with --port`;
    case 'EACCES':
      return `port: this user may not listen on ${port}; choose one above 1023 with --port`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `host: ${host} is no address of this machine; choose another with --host`;
    default:
      return `port: ${port} on ${host} cannot be had (${code}); choose another with --port or --host`;
  }
}
