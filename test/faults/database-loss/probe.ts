import { setTimeout as delay } from 'node:timers/promises';

import type { Ledger } from '../ledger.js';

/** One request and its result; `status` is null without any answer. */
export interface Observed {
  what: string;
  status: number | null;
  ms: number;
  detail: string;
  retryAfter: string | null;
}

/** Longer than any answer may take. */
const GIVE_UP_AFTER_MS = 30_000;
const PAUSE_MS = 100;

type Ask = [what: string, path: string, body?: object, headers?: Record<string, string>];

/** Clients of one service, each of which repeats one request; keeps all results. */
export class Probe {
  readonly seen: Observed[] = [];
  private running = true;
  private readonly clients: Promise<void>[];
  private count = 0;

  constructor(
    private readonly url: string,
    /** Collects the acknowledged orders. */
    private readonly ledger: Ledger,
  ) {
    const asks: (() => Ask)[] = [
      () => ['publish', '/api/v1/artifacts', { type: 'Left', payload: { n: 1 } }],
      () => ['publish and wait', '/api/v1/artifacts/sync', { type: 'Left', payload: { n: 1 }, timeout: 5 }],
      () => [
        'publish with a key',
        '/api/v1/artifacts',
        { type: 'Left', payload: { n: 2 } },
        { 'x-idempotency-key': `probe-${(this.count += 1)}` },
      ],
      () => ['run', '/run/flock', { agent_name: 'clerk', inputs: { n: 1 }, async_run: true }],
      () => ['batch', '/run/batch', { agent_name: 'clerk', batch_inputs: [{ n: 1 }, { n: 2 }] }],
      () => ['list artifacts', '/api/v1/artifacts?limit=1'],
      () => ['list runs', '/api/v1/runs?limit=1'],
      () => ['status', '/api/v1/correlations/unknown/status'],
      () => ['cancel', '/api/v1/correlations/unknown/cancel', {}],
      () => ['ready', '/health/ready'],
      () => ['live', '/health/live'],
      () => ['metrics', '/metrics'],
    ];
    this.clients = [...asks.map((ask) => this.repeat(ask)), this.publishOrders()];
  }

  /** Resolves when every request is answered or aborted. */
  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.clients);
  }

  statuses(what: string): (number | null)[] {
    return this.seen.filter((seen) => seen.what === what).map(({ status }) => status);
  }

  private async repeat(ask: () => Ask): Promise<void> {
    while (this.running) {
      this.seen.push(await observe(this.url, ...ask()));
      await delay(PAUSE_MS);
    }
  }

  private async publishOrders(): Promise<void> {
    while (this.running) {
      await this.ledger.send({ url: this.url }, this.ledger.next(false));
      await delay(PAUSE_MS);
    }
  }
}

export async function observe(
  url: string,
  what: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Observed> {
  const began = performance.now();
  const ended = (): number => Math.round(performance.now() - began);
  try {
    const response = await fetch(`${url}${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
      signal: AbortSignal.timeout(GIVE_UP_AFTER_MS),
    });
    const detail = await response.text();
    return {
      what,
      status: response.status,
      ms: ended(),
      detail: detail.slice(0, 300),
      retryAfter: response.headers.get('retry-after'),
    };
  } catch (error) {
    return { what, status: null, ms: ended(), detail: String(error), retryAfter: null };
  }
}

const LONGEST_ANSWER_MS = 20_000;
const PROBES = ['ready', 'live'];

/** Returns one line for each answer that no failure of the database allows. */
export const complaints = (seen: readonly Observed[]): string[] =>
  seen
    .filter((one) => !isFair(one))
    .map(
      ({ what, status, ms, detail, retryAfter }) =>
        `${what}: ${status} after ${ms} ms, Retry-After ${retryAfter}: ${detail}`,
    );

function isFair({ what, status, ms, retryAfter }: Observed): boolean {
  if (status === null || ms > LONGEST_ANSWER_MS) return false;
  if (status === 503) return what !== 'live' && (PROBES.includes(what) || /^\d+$/.test(retryAfter ?? ''));
  return status === (what === 'cancel' ? 404 : 200);
}

/** Returns how many publishes of a few clients are acknowledged in a second. */
export async function publishRate(url: string): Promise<number> {
  const CLIENTS = 4;
  const until = performance.now() + 1_000;
  let count = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      const { status } = await observe(url, 'rate', '/api/v1/artifacts', { type: 'Left', payload: { n: 3 } });
      if (status === 200) count += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return count;
}
