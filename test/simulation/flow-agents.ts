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
  changer: ['docks'],
  holder: ['lanes'],
  rival: ['berths'],
  queuer: ['docks', 'lanes'],
};

/** Their executions also wait for something else: for their turn, for a breaker, and for people. */
export const WAITING: ReadonlySet<string> = new Set(['syncer', 'mover', 'holder', 'queuer']);

/** Agents with a breaker. */
export const WITH_BREAKER = ['sender', 'holder'] as const;

/** The keys of artifacts. The keys of `fair_by` have these weights. */
export const WEIGHTS: Readonly<Record<string, number>> = { k1: 1, k2: 2, k3: 0.5 };

interface Agent {
  consumes: { types: string[]; debounce?: object; [option: string]: unknown }[];
  singleton?: { key: string; on_conflict: string };
  cancel_on?: object;
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
const singleton = (on_conflict: string) => ({ singleton: { key: 'payload.key', on_conflict } });
const DEBOUNCE = { debounce: { key: 'payload.key', wait: '200ms', at_most: '1s' } };
const BREAKER = { breaker: { failures: '50%', of: 4, open: '2s', key: 'payload.key' } };
const CANCEL_ON = { cancel_on: { types: ['Recall'], key: 'payload.key' } };
const FAIR = { fair_by: 'payload.key', weight: 'payload.weight' };
const PRIORITY = { priority: 'int(payload.n) % 3' };

/** Agents with a rule each, and the last ones with several. */
export const FLOW_AGENTS: Readonly<Record<string, Agent>> = {
  loader: agent('Load', {
    consumes: [{ types: ['Load'], ...PRIORITY }],
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
  indexer: agent('Edit', { consumes: [{ types: ['Edit'], ...DEBOUNCE }] }),
  sender: agent('Letter', { ...BREAKER, retry: retry(90) }),
  carrier: agent('Parcels', CANCEL_ON),
  translator: agent('Text', { cache: { for: '10m', key: 'payload.key' } }),
  answerer: agent('Question', {
    ...FAIR,
    // A claim that starts several together does not say in which order.
    concurrency: 1,
  }),
  changer: agent('Change', {
    consumes: [{ types: ['Change'], ...DEBOUNCE }],
    ...CANCEL_ON,
    limits: LIMITED.changer,
    retry: retry(4),
    concurrency: 100,
  }),
  holder: agent('Hold', { ...singleton('cancel_running'), ...BREAKER, limits: LIMITED.holder, retry: retry(90) }),
  rival: agent('Rival', {
    consumes: [{ types: ['Rival'], ...DEBOUNCE }],
    ...singleton('skip'),
    ...CANCEL_ON,
    limits: LIMITED.rival,
    retry: retry(4),
    concurrency: 100,
  }),
  queuer: agent('Queue', {
    consumes: [{ types: ['Queue'], ...PRIORITY }],
    ...singleton('queue'),
    ...CANCEL_ON,
    ...FAIR,
    limits: LIMITED.queuer,
    retry: retry(4),
  }),
};

/** The agent → what it consumes: one artifact of each type. */
export const FLOW_TYPES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(FLOW_AGENTS).map(([name, { consumes }]) => [name, consumes[0]!.types]),
);
