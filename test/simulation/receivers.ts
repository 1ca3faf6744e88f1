import { scheduler } from '../../src/common/scheduler.js';
import type { Outbound, OutboundAnswer, OutboundRequest } from '../../src/http-client/outbound.js';
import { OutboundError } from '../../src/http-client/outbound-error.js';
import { idsOf, outOfOrder } from '../faults/delivery-order.js';
import type { Random } from '../support/random.js';

const LATENCY_MS = 30;
/** A delivery fails at most so often, because the waits after further failures take hours. */
const MOST_FAILURES = 3;

/** Receivers of webhooks, and the network to them. They outlive the crashes of the service. */
export class Receivers implements Pick<Outbound, 'check' | 'post'> {
  private readonly received: { id: string; correlation: string; sequence: number }[] = [];

  private readonly failures = new Map<string, number>();

  constructor(private readonly random: Random) {}

  check(): void {
    // Every address is allowed.
  }

  async post(url: string, { headers, body, signal }: OutboundRequest): Promise<OutboundAnswer> {
    await this.latency();
    signal?.throwIfAborted();
    const id = headers['webhook-id']!;
    if (this.fails(id, 0.05)) throw new OutboundError(`${url}: the connection was refused`);
    const { correlation_id: correlation, sequence } = JSON.parse(body) as { correlation_id: string; sequence: number };
    this.received.push({ id, correlation, sequence });
    const status = this.fails(id, 0.1) ? 503 : 204;
    await this.latency();
    signal?.throwIfAborted();
    if (status === 204 && this.fails(id, 0.05))
      throw new OutboundError(`${url}: the connection was closed before an answer came`);
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

  private fails(id: string, chance: number): boolean {
    const failures = this.failures.get(id) ?? 0;
    if (failures === MOST_FAILURES || this.random.next() >= chance) return false;
    this.failures.set(id, failures + 1);
    return true;
  }

  private latency(): Promise<void> {
    return scheduler.pause(this.random.next() * LATENCY_MS);
  }
}
