import type { IncomingMessage } from 'node:http';
import { BlockList } from 'node:net';

import { ipAddress, networkOf } from '../../common/ip-address.js';

/**
 * Returns the client of a request, for limits per client: an IPv4 address, or the /64 network of an IPv6 address. If a
 * proxy in `trustedProxies` (CIDR) sent the request, the client is the last address in `X-Forwarded-For` that is not a
 * trusted proxy; any client can forge the entries before it. Express' own `trust proxy` would also trust the host and
 * the protocol that a proxy names.
 */
export function clientAddresses(
  trustedProxies: readonly string[],
): (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string {
  const trusted = new BlockList();
  for (const range of trustedProxies) {
    const [address = '', prefix] = range.split('/');
    trusted.addSubnet(address, Number(prefix), address.includes(':') ? 'ipv6' : 'ipv4');
  }
  return ({ headers, socket }) => {
    const hops = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
    let client = socket.remoteAddress ?? 'nowhere';
    while (hops.length > 0 && isIn(trusted, client)) {
      const hop = withoutPort(hops.pop()!.trim());
      if (!ipAddress(hop)) break;
      client = hop;
    }
    return networkOf(client);
  };
}

/** Some proxies add the port, such as Azure Application Gateway: `1.2.3.4:5678`, `[2001:db8::1]:443`. */
const withoutPort = (hop: string): string => hop.replace(/^\[([^\]]*)\](:\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1');

function isIn(ranges: BlockList, text: string): boolean {
  const address = ipAddress(text);
  return address !== null && ranges.check(address.text, address.family);
}
