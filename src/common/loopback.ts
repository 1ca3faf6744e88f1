import { BlockList, isIPv4, isIPv6 } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Whether an IP address (without brackets) is a loopback address; false for a name. IPv4 wrapped in IPv6 counts as
 * IPv4.
 */
export function isLoopbackAddress(address: string): boolean {
  // This runs for each request, and BlockList allocates an object outside of the heap for each address that it checks.
  if (isIPv4(address)) return address.startsWith('127.');
  return isIPv6(address) && LOOPBACK.check(address, 'ipv6');
}
