import type { Rule } from '../flow/limit-model.js';

/** The largest cost of an artifact in the limit with units. */
export const MOST_UNITS = 3;

const WEIGHED = { concurrency: 3, rate: { perSecond: 20, burst: 6 } };

/** The limits of the configuration. Clients change their values. */
export const LIMITS: readonly Rule[] = [
  { name: 'docks', concurrency: 2, rate: null, hold: false, isKeyed: true },
  { name: 'lanes', concurrency: 3, rate: { perSecond: 20, burst: 2 }, hold: false, isKeyed: false },
  { name: 'berths', concurrency: 1, rate: null, hold: true, isKeyed: true },
  { name: 'scales', ...WEIGHED, hold: false, isKeyed: true, units: `int(payload.n) % ${MOST_UNITS} + 1` },
];

/** `baler` takes so many artifacts together. */
export const LARGEST_BALE = 4;

/** The units of an artifact with this number. */
export const unitsOf = (n: number): number => (n % MOST_UNITS) + 1;

/** The agents that take part in them. */
export const LIMITED: Readonly<Record<string, readonly string[]>> = {
  loader: ['docks', 'lanes'],
  keeper: ['berths', 'docks'],
  syncer: ['lanes'],
  weigher: ['scales', 'lanes'],
  assembler: ['docks', 'lanes'],
  baler: ['docks'],
  mover: ['berths', 'docks'],
};

/** Their executions also wait for something else: for their turn, and for people. */
export const WAITING: ReadonlySet<string> = new Set(['syncer', 'mover']);

/** The keys of artifacts. The keys of `fair_by` have these weights. */
export const WEIGHTS: Readonly<Record<string, number>> = { k1: 1, k2: 2, k3: 0.5 };

interface Agent {
  consumes: { types: string[] }[];
  [option: string]: unknown;
}

const agent = (type: string, rules: object): Agent => ({
  consumes: [{ types: [type] }],
  publishes: [{ type: 'Handled' }],
  engine: { kind: 'expression', expression: '{"n": payload.n}' },
  ...rules,
});

/** Limits of an agent whose payload is not that of one artifact. `first`: one of its payloads. */
const limitsBy = (name: string, first: string): object => ({
  limits: LIMITED[name]!.map((limit) =>
    LIMITS.find((rule) => rule.name === limit)!.isKeyed ? { name: limit, key: `${first}.key` } : limit,
  ),
  engine: { kind: 'expression', expression: `{"n": ${first}.n}` },
});

const retry = (attempts: number): object => ({ attempts, delay: '50ms', max_delay: '2s' });
const singleton = (on_conflict: string): object => ({ singleton: { key: 'payload.key', on_conflict } });

/** Agents with a rule each, or with two that share a step. */
export const FLOW_AGENTS: Readonly<Record<string, Agent>> = {
  loader: agent('Load', {
    consumes: [{ types: ['Load'], priority: 'int(payload.n) % 3' }],
    limits: LIMITED.loader,
    retry: retry(4),
    concurrency: 100,
  }),
  keeper: agent('Keep', { limits: LIMITED.keeper, retry: retry(4), concurrency: 100 }),
  syncer: agent('Sync', { ...singleton('queue'), limits: LIMITED.syncer, retry: retry(4) }),
  weigher: agent('Weight', { limits: LIMITED.weigher, retry: retry(4), concurrency: 100 }),
  assembler: agent('Frame', {
    consumes: [{ types: ['Frame', 'Wheel'], join: { by: 'payload.n' } }],
    ...limitsBy('assembler', 'payload.Frame'),
    retry: retry(4),
    concurrency: 100,
  }),
  baler: agent('Straw', {
    consumes: [{ types: ['Straw'], batch: { size: LARGEST_BALE, timeout: '300ms', key: 'payload.key' } }],
    ...limitsBy('baler', 'payload[0]'),
    retry: retry(4),
    concurrency: 100,
  }),
  mover: agent('Crate', {
    limits: LIMITED.mover,
    engine: { kind: 'external' },
    timeout: '20s',
    retry: { attempts: 30, delay: '50ms', max_delay: '1s' },
    concurrency: 100,
  }),
  skipper: agent('Skip', singleton('skip')),
  renewer: agent('Renew', singleton('cancel_running')),
  indexer: agent('Edit', {
    consumes: [{ types: ['Edit'], debounce: { key: 'payload.key', wait: '200ms', at_most: '1s' } }],
  }),
  sender: agent('Letter', {
    breaker: { failures: '50%', of: 4, open: '2s', key: 'payload.key' },
    retry: retry(90),
  }),
  carrier: agent('Parcels', { cancel_on: { types: ['Recall'], key: 'payload.key' } }),
  translator: agent('Text', { cache: { for: '10m', key: 'payload.key' } }),
  answerer: agent('Question', {
    fair_by: 'payload.key',
    weight: 'payload.weight',
    // A claim that starts several together does not say in which order.
    concurrency: 1,
  }),
};

/** The agent → what it consumes: one artifact of each type. */
export const FLOW_TYPES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(FLOW_AGENTS).map(([name, { consumes }]) => [name, consumes[0]!.types]),
);
