import type { Service } from '../support/service.js';

export interface Order {
  n: number;
  correlationId: string;
  /** The idempotency key of an order that is sent again until it is acknowledged. */
  key?: string;
}

/**
 * The test's record of what it sent and what was acknowledged: an acknowledged order must exist once, with all that
 * follows from it; one without an answer may exist or not.
 */
export class Ledger {
  readonly acknowledged = new Map<string, Order>();
  readonly unanswered = new Map<string, Order>();
  private count = 0;

  next(withKey: boolean): Order {
    this.count += 1;
    return { n: this.count, correlationId: `order-${this.count}`, ...(withKey && { key: `key-${this.count}` }) };
  }

  async send(service: Pick<Service, 'url'>, order: Order): Promise<boolean> {
    this.begin(order);
    const path = order.key ? '/api/v1/artifacts/sync' : '/api/v1/artifacts';
    try {
      const response = await fetch(`${service.url}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-correlation-id': order.correlationId,
          ...(order.key && { 'x-idempotency-key': order.key }),
        },
        body: JSON.stringify({ type: 'Order', payload: { n: order.n } }),
      });
      await response.text();
      if (response.status !== 200) return false;
    } catch {
      return false; // The process was killed before it answered.
    }
    this.acknowledge(order);
    return true;
  }

  /** Call it before an order is sent. */
  begin(order: Order): void {
    if (!this.acknowledged.has(order.correlationId)) this.unanswered.set(order.correlationId, order);
  }

  acknowledge(order: Order): void {
    this.unanswered.delete(order.correlationId);
    this.acknowledged.set(order.correlationId, order);
  }
}
