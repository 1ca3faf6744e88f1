import { BlockList } from 'node:net';

import { type IpAddress, ipAddress } from '../common/ip-address.js';

/** The source of a URL. A URL that the operator configures may reach more addresses than one that a client sends. */
export type UrlGiver = 'client' | 'operator';

/**
 * Addresses that are never reachable: metadata services, which hand out a machine's credentials, and addresses that no
 * request can target.
 */
const NEVER = blockList([
  '0.0.0.0/8',
  // Link-local, with the metadata services of AWS, Google, Azure, Oracle and others.
  '169.254.0.0/16',
  'fe80::/10',
  // Other metadata services: AWS (including container credentials), Scaleway and Google over IPv6, Alibaba, Oracle, and
  // Azure's wire server.
  'fd00:ec2::/32',
  'fd00:42::42/128',
  'fd20:ce::254/128',
  '100.100.100.200/32',
  '192.0.0.192/32',
  '168.63.129.16/32',
  // Multicast, reserved, broadcast, unspecified.
  '224.0.0.0/4',
  '240.0.0.0/4',
  'ff00::/8',
  '::/128',
  // Translated on the way to addresses that are unknown here: Teredo, 6to4, a network's own NAT64.
  '2001::/32',
  '2002::/16',
  '64:ff9b:1::/48',
]);

/**
 * All ranges in IANA's special-purpose registry for IPv4 that are not globally reachable, and the former 6to4 relays.
 */
const PRIVATE_IPV4 = blockList([
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
]);

/** For IPv6, the allowed ranges: global unicast, except for protocol assignments and documentation. */
const GLOBAL_IPV6 = blockList(['2000::/3']);
const SPECIAL_IPV6 = blockList(['2001::/23', '2001:db8::/32', '3fff::/20']);

/** The targets that the operator allows for clients' URLs. */
interface ClientReach {
  /** Ranges in CIDR notation that may be reached in addition to public addresses, on any port. */
  allow: readonly string[];
  /** Allowed ports on public addresses. */
  ports: readonly number[];
  /** Host names and addresses; `*.` before a name stands for all its subdomains. Null allows any host. */
  hosts: readonly string[] | null;
}

const NOTHING: ClientReach = { allow: [], ports: [], hosts: [] };

/** Decides which hosts, addresses and ports outbound requests may reach (docs/webhooks.md). */
export class AddressRules {
  private readonly allowed: BlockList;

  constructor(private readonly clients: ClientReach = NOTHING) {
    this.allowed = blockList(clients.allow);
  }

  /** Why a request may not go to this address and port, completing "must ..."; null if it may. */
  refusal(text: string, port: number, by: UrlGiver): string | null {
    const address = ipAddress(text);
    if (!address || has(NEVER, address))
      return `not point to ${text}: link-local, metadata and unusable addresses are never called`;
    if (by === 'operator' || has(this.allowed, address)) return null;
    if (isPublic(address)) return this.portRefusal(port);
    return `point to a public address, not to ${text}; the operator of this service can allow it with outbound_allow`;
  }

  /** Why a request may not go to the host in a URL, independent of its addresses; null if it may. */
  hostRefusal(hostname: string, by: UrlGiver): string | null {
    if (by === 'operator' || this.isListed(hostname.replace(/\.$/, ''))) return null;
    return `point to an allowed webhook host, not to ${hostname}; the operator of this service can allow it with client_webhook_hosts`;
  }

  /** Why a name may not be called on this port, before its addresses are known: an allowed range may contain them. */
  namePortRefusal(port: number, by: UrlGiver): string | null {
    return by === 'operator' || this.clients.allow.length > 0 ? null : this.portRefusal(port);
  }

  private portRefusal(port: number): string | null {
    const { ports } = this.clients;
    if (ports.includes(port)) return null;
    return `have one of the ports ${ports.join(', ')}, not ${port}; the operator of this service can allow it with client_webhook_ports`;
  }

  private isListed(hostname: string): boolean {
    const { hosts } = this.clients;
    return (
      hosts === null ||
      hosts.some((host) => (host.startsWith('*.') ? hostname.endsWith(host.slice(1)) : hostname === host))
    );
  }
}

const isPublic = (address: IpAddress): boolean =>
  address.family === 'ipv4' ? !has(PRIVATE_IPV4, address) : has(GLOBAL_IPV6, address) && !has(SPECIAL_IPV6, address);

const has = (list: BlockList, { text, family }: IpAddress): boolean => list.check(text, family);

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    list.addSubnet(address, Number(prefix), address.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** In characters. */
export const LONGEST_URL = 2_048;

/** Why no request may go to this URL, judged without a lookup, completing "must ..."; null if nothing is wrong. */
export function urlProblem(text: string, by: UrlGiver, rules: AddressRules): string | null {
  if (text.length > LONGEST_URL) return `have at most ${LONGEST_URL} characters`;
  if (!URL.canParse(text)) return 'be a URL such as https://example.com/hook';
  const { href, protocol, username, password, port, hostname } = new URL(text);
  // `href` is the form that is stored and sent.
  if (href.length > LONGEST_URL) return `have at most ${LONGEST_URL} characters in its encoded form`;
  if (protocol !== 'http:' && protocol !== 'https:') return 'begin with http:// or https://';
  if (username || password) return 'not contain a user or a password';
  if (port === '0') return 'have a port other than 0';
  return rules.hostRefusal(hostname, by) ?? addressProblem(hostname, portOf({ protocol, port }), by, rules);
}

export const portOf = ({ protocol, port }: { protocol: string; port: string }): number =>
  Number(port) || (protocol === 'https:' ? 443 : 80);

// The URL parser has already turned decimal, octal, hexadecimal and shortened IPv4 addresses into the dotted form.
function addressProblem(hostname: string, port: number, by: UrlGiver, rules: AddressRules): string | null {
  if (isLocalhost(hostname)) {
    const refusals = ['127.0.0.1', '::1'].map((address) => rules.refusal(address, port, by));
    return refusals.includes(null) ? null : refusals[0]!.replace('127.0.0.1', 'localhost');
  }
  if (hostname.startsWith('[')) return rules.refusal(hostname.slice(1, -1), port, by);
  return /^[\d.]+$/.test(hostname) ? rules.refusal(hostname, port, by) : rules.namePortRefusal(port, by);
}

export const isLocalhost = (name: string): boolean => /(^|\.)localhost\.?$/i.test(name);
