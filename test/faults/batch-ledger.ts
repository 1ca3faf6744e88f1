import type { Random } from '../support/random.js';
import type { Service } from '../support/service.js';

export const ROWS = 5_000;
/** With a row key, the rows from here on repeat the first ones. */
export const FIRST_TWIN = 4_000;

/** A path in the service's `csv_root`, with the content of `CSV`. */
export const CSV_FILE = 'rows.csv';

const NUMBERS = Array.from({ length: ROWS }, (_, n) => n);

/** The static input `batch`, which identifies the rows of every batch. */
export const CSV = `n,twin,text\r\n${NUMBERS.map((n) => `${n},${n % FIRST_TWIN},"a, ""b""\n${n}"\r\n`).join('')}`;
const LIST = NUMBERS.map((n) => ({ n, twin: n % FIRST_TWIN, text: `a, "b"\n${n}` }));

export interface Order {
  name: string;
  way: 'list' | 'path' | 'upload';
  hasTwins: boolean;
  /** The idempotency key of an order that is sent again until it is acknowledged. */
  key?: string;
}

/** The test's record of the batches that it sent: an acknowledged one must exist, any other may exist. */
export class BatchLedger {
  readonly orders = new Map<string, Order>();
  /** Batch ids by name. */
  readonly acknowledged = new Map<string, string>();
  /** Sent with a key and not acknowledged yet: the next to be sent. */
  unanswered: Order | null = null;

  next(random: Random): Order {
    if (this.unanswered) return this.unanswered;
    const name = `batch ${this.orders.size + 1}`;
    const way = (['list', 'path', 'upload'] as const)[random.between(0, 2)]!;
    const order = {
      name,
      way,
      hasTwins: random.next() < 0.3,
      ...(random.next() < 0.5 && { key: name.replace(' ', '-') }),
    };
    this.orders.set(name, order);
    return order;
  }

  /** Returns false if the process was killed before it answered. Rejects if it refused. */
  async send(service: Service, order: Order): Promise<boolean> {
    const answer = await this.post(service, order)
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch(() => null);
    this.unanswered = answer || !order.key ? null : order;
    if (!answer) return false;
    if (answer.status !== 200) throw new Error(`${order.name} was answered ${answer.status}: ${answer.text}`);
    this.acknowledged.set(order.name, (JSON.parse(answer.text) as { batch_id: string }).batch_id);
    return true;
  }

  private post(service: Service, { name, way, hasTwins, key }: Order): Promise<Response> {
    const request = {
      agent_name: 'clerk',
      static_inputs: { batch: name },
      max_workers: 1_000,
      ...(hasTwins && { row_key: 'twin' }),
    };
    const headers: Record<string, string> = key ? { 'x-idempotency-key': key } : {};
    const url = `${service.url}/run/batch`;
    if (way === 'upload') {
      const body = new FormData();
      body.set('request', JSON.stringify(request));
      body.set('file', new Blob([CSV], { type: 'text/csv' }), CSV_FILE);
      return fetch(url, { method: 'POST', headers, body });
    }
    const inputs = way === 'path' ? CSV_FILE : LIST;
    return fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...request, batch_inputs: inputs }),
    });
  }
}
