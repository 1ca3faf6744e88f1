import type { Socket } from 'node:net';

import type { Clock } from '../common/clock.js';
import { networkOf } from '../common/ip-address.js';
import { HostFull } from './outbound-error.js';

const WINDOW_MS = 60_000;
/** The maximum number of names and networks that are remembered. The least recently used one is forgotten first. */
const MOST_HOSTS = 10_000;

interface Connection {
  socket: Socket;
  name: string;
  network: string;
  /** Bytes of the socket that are already counted. */
  counted: number;
}

interface Sent {
  /** Start of the current window (epoch ms). */
  since: number;
  bytes: number;
}

/**
 * Limits the bytes that each host is sent per minute. A receiver may have many names and a name many addresses, so both
 * have the limit: a name for the bodies that are sent to it, and a network for the bytes that connections really carry
 * to its addresses. Bytes beyond the limit, from requests that had already started, count in the following minutes.
 * Each process counts separately.
 */
export class HostTraffic {
  private readonly hosts = new Map<string, Sent>();
  private readonly connections = new Set<Connection>();

  constructor(
    private readonly bytesPerMinute: number,
    private readonly clock: Clock,
  ) {}

  /** Counts a body before it is sent to the host of this name. Throws HostFull if the host has reached its limit. */
  begin(name: string, bytes: number): void {
    this.countAll();
    const networks = [...this.connections]
      .filter((connection) => connection.name === name)
      .map(({ network }) => network);
    this.refuseFull(name, [nameKey(name), ...networks]);
    this.sentTo(nameKey(name)).bytes += bytes;
  }

  /** Counts the bytes of a new connection from now on. Throws HostFull if its network has reached the limit. */
  add(name: string, socket: Socket): void {
    this.countAll();
    const network = `network ${networkOf(socket.remoteAddress ?? name)}`;
    this.refuseFull(name, [network]);
    const connection = { socket, name, network, counted: 0 };
    this.connections.add(connection);
    socket.once('close', () => {
      this.count(connection);
      this.connections.delete(connection);
    });
  }

  private countAll(): void {
    this.connections.forEach((connection) => this.count(connection));
  }

  private count(connection: Connection): void {
    const { socket, network, counted } = connection;
    connection.counted = socket.bytesWritten;
    if (connection.counted > counted) this.sentTo(network).bytes += connection.counted - counted;
  }

  private refuseFull(name: string, hosts: readonly string[]): void {
    const ends = hosts.map((host) => this.endOfFull(host)).filter((end) => end !== null);
    if (ends.length > 0) throw new HostFull(name, Math.max(...ends));
  }

  /** The time at which a full host may be sent more (epoch ms); null if it is not full. */
  private endOfFull(host: string): number | null {
    const sent = this.hosts.get(host);
    if (!sent) return null;
    this.moveOn(sent);
    return sent.bytes < this.bytesPerMinute
      ? null
      : sent.since + Math.floor(sent.bytes / this.bytesPerMinute) * WINDOW_MS;
  }

  private sentTo(host: string): Sent {
    const sent = this.hosts.get(host) ?? { since: this.clock.now(), bytes: 0 };
    this.hosts.delete(host);
    if (this.hosts.size >= MOST_HOSTS) this.hosts.delete(this.hosts.keys().next().value!);
    this.hosts.set(host, sent);
    this.moveOn(sent);
    return sent;
  }

  private moveOn(sent: Sent): void {
    const windows = Math.floor((this.clock.now() - sent.since) / WINDOW_MS);
    sent.since += windows * WINDOW_MS;
    sent.bytes = Math.max(0, sent.bytes - windows * this.bytesPerMinute);
  }
}

const nameKey = (name: string): string => `name ${name}`;
