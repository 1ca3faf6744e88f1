import { BlockList } from 'node:net';
import { ipAddress, type IpAddress } from './ip-address.js';

/** Who gave a URL: what an operator configures may reach more than what any client sends. */
export type UrlGiver = 'client' | 'operator';

/** Reached for nobody: services that hand out a machine's credentials, and what no request can be meant for. */
const NEVER = blockList([
  '0.0.0.0/8',
  // Link-local, with the metadata services of AWS, Google, Azure, Oracle and others.
  '169.254.0.0/16',
  'fe80::/10',
  // Metadata and the like beside it: AWS (with the credentials of its containers), Scaleway and Google over IPv6, Alibaba, Oracle,
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
  // Translated on the way, to what cannot be known here: Teredo, 6to4, a network's own NAT64.
  '2001::/32',
  '2002::/16',
  '64:ff9b:1::/48',
]);

/** IANA's special-purpose registry for IPv4: everything in it that is not globally reachable, and the former 6to4 relays. */
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

/** For IPv6 the other way round: all that is assigned for global unicast, save protocol assignments and documentation. */
const GLOBAL_IPV6 = blockList(['2000::/3']);
const SPECIAL_IPV6 = blockList(['2001::/23', '2001:db8::/32', '3fff::/20']);

/** What the operator lets clients' URLs reach. */
export interface ClientReach {
  /** Ranges in CIDR notation that may be reached besides public addresses, and on any port. */
  allow: readonly string[];
  /** Ports of public addresses. */
  ports: readonly number[];
  /** Names, addresses, and `*.` before a name for everything below it; null for any host. */
  hosts: readonly string[] | null;
}

const NOTHING: ClientReach = { allow: [], ports: [], hosts: [] };

/** Which hosts, addresses and ports outbound requests may reach (wire-decisions.md, "Start configuration": `outbound_allow`). */
export class AddressRules {
  private readonly allowed: BlockList;

  constructor(private readonly clients: ClientReach = NOTHING) {
    this.allowed = blockList(clients.allow);
  }

  /** Why a request may not go to this address and port, completing "must ..."; null where it may. */
  refusal(text: string, port: number, by: UrlGiver): string | null {
    const address = ipAddress(text);
    if (!address || has(NEVER, address)) return `not point to ${text}: link-local, metadata and unusable addresses are never called`;
    if (by === 'operator' || has(this.allowed, address)) return null;
    if (isPublic(address)) return this.portRefusal(port);
    return `point to a public address, not to ${text}; the operator of this service can allow that with outbound_allow`;
  }

  /** The same for a host as the URL has it, whatever its address is. */
  hostRefusal(hostname: string, by: UrlGiver): string | null {
    if (by === 'operator' || this.isListed(hostname.replace(/\.$/, ''))) return null;
    return `point to a host that this service sends webhooks to, not to ${hostname}; the operator of this service can allow that with client_webhook_hosts`;
  }

  /** The same for the port of a name whose addresses are not known yet: a range that is allowed may hold them. */
  namePortRefusal(port: number, by: UrlGiver): string | null {
    return by === 'operator' || this.clients.allow.length > 0 ? null : this.portRefusal(port);
  }

  private portRefusal(port: number): string | null {
    const { ports } = this.clients;
    if (ports.includes(port)) return null;
    return `have one of the ports ${ports.join(', ')}, not ${port}; the operator of this service can allow that with client_webhook_ports`;
  }

  private isListed(hostname: string): boolean {
    const { hosts } = this.clients;
    return hosts === null || hosts.some((host) => (host.startsWith('*.') ? hostname.endsWith(host.slice(1)) : hostname === host));
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
