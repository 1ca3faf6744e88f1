import type { Random } from '../../support/random.js';

export const KINDS = ['order', 'left', 'right', 'run', 'nap', 'batch'] as const;
export type Kind = (typeof KINDS)[number];

export const BATCH_ROWS = 30;
export const BATCH_WORKERS = 10;

/** One request of the load. With a key, it is sent again until it is answered. */
export interface LoadRequest {
  kind: Kind;
  n: number;
  path: string;
  body: object;
  /** Sent as X-Correlation-ID; null if the service chooses. */
  correlationId: string | null;
  key: string | null;
}

const of = (
  kind: Kind,
  n: number,
  key: string | null,
  path: string,
  body: object,
  correlationId: string | null = null,
): LoadRequest => ({ kind, n, key, path, body, correlationId });

const publish = (kind: Kind, n: number, type: string, key: string | null, isSync: boolean): LoadRequest =>
  of(kind, n, key, isSync ? '/api/v1/artifacts/sync' : '/api/v1/artifacts', { type, payload: { n } }, `${kind}-${n}`);

const run = (kind: Kind, n: number, agent: string, inputs: object, isAsync: boolean, key: string | null): LoadRequest =>
  of(
    kind,
    n,
    key,
    '/run/flock',
    { agent_name: agent, inputs, async_run: isAsync },
    kind === 'nap' ? `${kind}-${n}` : null,
  );

/** Returns the next requests of the load; both halves of a pair come together, to be sent separately. */
export function nextRequests(n: number, random: Random): LoadRequest[] {
  const draw = random.next();
  const maybeKey = random.next() < 0.5 ? `key-${n}` : null;
  const isSync = random.next() < 0.5;
  if (draw < 0.45) return [publish('order', n, 'Order', maybeKey, isSync)];
  if (draw < 0.6)
    return [publish('left', n, 'Left', `left-${n}`, isSync), publish('right', n, 'Right', `right-${n}`, isSync)];
  if (draw < 0.8) return [run('run', n, 'clerk', { n }, !isSync, maybeKey)];
  if (draw < 0.93) return [run('nap', n, 'sleeper', { n, ms: random.between(0, 600) }, true, null)];
  return [
    of('batch', n, maybeKey, '/run/batch', {
      agent_name: 'clerk',
      batch_inputs: rows(),
      static_inputs: { batch: `batch-${n}` },
      max_workers: BATCH_WORKERS,
    }),
  ];
}

const rows = (): object[] => Array.from({ length: BATCH_ROWS }, (_, row) => ({ n: row }));
