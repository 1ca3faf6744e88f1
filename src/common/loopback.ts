import { BlockList, isIPv4, isIPv6 } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

/** Whether an IP address, without brackets, leads to this machine alone; false for a name. IPv4 wrapped in IPv6 counts as IPv4. */
export function isLoopbackAddress(address: string): boolean {
  // For each request: the list makes an object outside of the heap for every address that it is asked about.
  if (isIPv4(address)) return address.startsWith('127.');
  return isIPv6(address) && LOOPBACK.check(address, 'ipv6');
}
