import { scheduler } from '../../src/common/scheduler.js';
import type { Outbound, OutboundAnswer, OutboundRequest } from '../../src/http-client/outbound.js';
import { OutboundError } from '../../src/http-client/outbound-error.js';
import { idsOf, outOfOrder } from '../faults/delivery-order.js';
import type { Random } from '../support/random.js';

const LATENCY_MS = 30;

/** Receivers of webhooks, and the network to them. They outlive the crashes of the service. */
export class Receivers implements Pick<Outbound, 'check' | 'post'> {
  private readonly received: { id: string; correlation: string; sequence: number }[] = [];

  constructor(private readonly random: Random) {}

  check(): void {
    // Every address is allowed.
  }

  async post(url: string, { headers, body, signal }: OutboundRequest): Promise<OutboundAnswer> {
    await this.latency();
    signal?.throwIfAborted();
    if (this.random.next() < 0.05) throw new OutboundError(`${url}: the connection was refused`);
    const { correlation_id: correlation, sequence } = JSON.parse(body) as { correlation_id: string; sequence: number };
    this.received.push({ id: headers['webhook-id']!, correlation, sequence });
    const status = this.random.next() < 0.1 ? 503 : 204;
    await this.latency();
    signal?.throwIfAborted();
    if (this.random.next() < 0.05) throw new OutboundError(`${url}: the connection was closed before an answer came`);
    return { status, headers: {}, text: '', isWhole: true, isTooLong: false };
  }

  /** Returns what came under several ids, out of order, or not at all. */
  breaches(owed: readonly { id: string }[]): string[] {
    const arrived = new Set(this.received.map(({ id }) => id));
    return [
      ...[...idsOf(this.received)].filter(([, ids]) => ids > 1).map(([what, ids]) => `${what} came under ${ids} ids`),
      ...outOfOrder(this.received).map((what) => `a receiver got ${what}`),
      ...owed.filter(({ id }) => !arrived.has(id)).map(({ id }) => `delivery ${id} never came`),
    ];
  }

  private latency(): Promise<void> {
    return scheduler.pause(this.random.next() * LATENCY_MS);
  }
}
