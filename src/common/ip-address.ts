import { BlockList, isIPv4, isIPv6 } from 'node:net';

export interface IpAddress {
  family: 'ipv4' | 'ipv6';
  /** The address without a zone. */
  text: string;
}

/**
 * The address that a packet to `text` is really sent to: the IPv4 address if an IPv6 address only wraps it (RFC 4291:
 * mapped and compatible; RFC 2765: translated; RFC 6052: the well-known prefix of NAT64). Null if `text` is not an
 * address.
 */
export function ipAddress(text: string): IpAddress | null {
  if (isIPv4(text)) return { family: 'ipv4', text };
  const [address = ''] = text.split('%');
  if (!isIPv6(address)) return null;
  const groups = groupsOf(address);
  return isWrapper(groups) ? { family: 'ipv4', text: lastFourBytes(groups) } : { family: 'ipv6', text: address };
}

/**
 * The addresses that one owner usually has: an IPv4 address, or the /64 network of an IPv6 address. A host name is
 * unchanged.
 */
export function networkOf(text: string): string {
  const address = ipAddress(text);
  if (!address) return text;
  return address.family === 'ipv4'
    ? address.text
    : `${groupsOf(address.text)
        .slice(0, 4)
        .map((group) => group.toString(16))
        .join(':')}::/64`;
}

function groupsOf(address: string): number[] {
  // The URL parser writes the last two groups in hexadecimal if they were given as IPv4.
  const [head = '', tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const front = hexGroups(head);
  if (tail === undefined) return front;
  const back = hexGroups(tail);
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
}

const hexGroups = (text: string): number[] => (text === '' ? [] : text.split(':').map((group) => parseInt(group, 16)));

const WRAPPERS = ['0,0,0,0,0,65535', '0,0,0,0,65535,0', `${0x64},${0xff9b},0,0,0,0`];

function isWrapper(groups: readonly number[]): boolean {
  const prefix = groups.slice(0, 6).join();
  // IPv4-compatible addresses. `::` and `::1` have the same prefix but wrap nothing.
  return WRAPPERS.includes(prefix) || (prefix === '0,0,0,0,0,0' && groups[6] !== 0);
}

const lastFourBytes = (groups: readonly number[]): string =>
  groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');

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
