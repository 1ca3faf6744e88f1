import fc from 'fast-check';

import type { LimitValues } from '../../src/catalog/limits.js';
import type { ReplayMode } from '../../src/database/schema.js';
import { FLOW_AGENTS, LIMITS, MOST_UNITS, WEIGHTS } from './flow-agents.js';
import type { TRIED } from './repeats.js';

/** One step of a simulation. `after`: the simulated milliseconds before it. */
export type Operation = { after: number } & (
  | { kind: 'orders'; count: number; keyed: boolean; webhook: boolean }
  | { kind: 'pair' }
  | { kind: 'nap'; ms: number; cancelAfter: number }
  | { kind: 'deadline'; ms: number; deadline: number }
  | { kind: 'schedule'; seconds: number; ticks: number }
  | { kind: 'run' }
  | { kind: 'trip' }
  | { kind: 'pleas'; count: number }
  | { kind: 'leaps'; count: number }
  /** The agent that leaps fails for good in this time. */
  | { kind: 'ice'; ms: number }
  | { kind: 'retryAll' }
  /** So many artifacts in one correlation, whose agent has a budget there. */
  | { kind: 'topics'; count: number }
  /** An artifact with each of the keys, for an agent of `flow-agents.ts`. */
  | { kind: 'flow'; agent: string; keys: string[] }
  /** Calls off what the agent `carrier` does for a key. */
  | { kind: 'recall'; key: string }
  /** Sets values for a limit or, with null, those of the configuration. */
  | { kind: 'limit'; name: string; values: LimitValues | null }
  | { kind: 'pause'; agent: string; ms: number }
  | { kind: 'batch'; rows: number }
  /** Replays one of the acknowledged correlations. */
  | { kind: 'replay'; pick: number; mode: ReplayMode; cancelAfter: number | null }
  /** Tries variants on so many of them. */
  | {
      kind: 'experiment';
      tried: keyof typeof TRIED;
      pick: number;
      rows: number;
      mode: ReplayMode;
      cancelAfter: number | null;
    }
  /** Power is lost after this many turns, or while the next commit after them is written. */
  | { kind: 'crash'; turns: number; inCommit: boolean }
  /** The machine is suspended while nothing runs. */
  | { kind: 'suspend'; hours: number }
  /** The machine stands still for longer than a lease, while work may run. */
  | { kind: 'stall'; ms: number }
  | { kind: 'setClock'; ms: number }
  | { kind: 'fullDisk'; pages: number; ms: number }
);

type Kind = Operation['kind'];

const between = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max });

const step = <K extends Kind>(
  kind: K,
  fields: {
    [F in Exclude<keyof Extract<Operation, { kind: K }>, 'kind' | 'after'>]: fc.Arbitrary<
      Extract<Operation, { kind: K }>[F]
    >;
  },
): fc.Arbitrary<Operation> =>
  fc.record({
    kind: fc.constant(kind),
    after: fc.oneof(between(0, 20), between(0, 500)),
    ...fields,
  }) as fc.Arbitrary<Operation>;

const key = fc.constantFrom(...Object.keys(WEIGHTS));

const concurrency = between(1, 4);
const rate = between(5, 50).map((count) => `${count}/s`);

/** An execution that costs more than the burst would fail. */
const limitValues = (leastBurst: number): fc.Arbitrary<LimitValues | null> => {
  const burst = between(leastBurst, leastBurst + 3);
  return fc.oneof(
    fc.constant(null),
    fc.record({ concurrency }),
    fc.record({ rate, burst }),
    fc.record({ concurrency, rate, burst }),
  );
};

const limitsWith = (areCounted: boolean): fc.Arbitrary<string> =>
  fc.constantFrom(...LIMITS.filter(({ units }) => (units !== undefined) === areCounted).map(({ name }) => name));

const pick = between(0, 1_000);
const cancelAfter = fc.option(between(0, 300), { freq: 2 });

const operation = fc.oneof(
  { weight: 10, arbitrary: step('orders', { count: between(1, 4), keyed: fc.boolean(), webhook: fc.boolean() }) },
  { weight: 2, arbitrary: step('pair', {}) },
  { weight: 2, arbitrary: step('nap', { ms: between(0, 2_000), cancelAfter: between(0, 1_500) }) },
  { weight: 1, arbitrary: step('deadline', { ms: between(0, 2_000), deadline: between(1, 2_000) }) },
  { weight: 3, arbitrary: step('schedule', { seconds: between(1, 3), ticks: between(1, 6) }) },
  { weight: 2, arbitrary: step('run', {}) },
  { weight: 2, arbitrary: step('trip', {}) },
  { weight: 2, arbitrary: step('pleas', { count: between(1, 4) }) },
  { weight: 2, arbitrary: step('leaps', { count: between(1, 4) }) },
  { weight: 4, arbitrary: step('ice', { ms: between(0, 4_000) }) },
  { weight: 1, arbitrary: step('retryAll', {}) },
  {
    weight: 24,
    arbitrary: step('flow', {
      agent: fc.constantFrom(...Object.keys(FLOW_AGENTS)),
      keys: fc.array(key, { minLength: 1, maxLength: 8, size: 'max' }),
    }),
  },
  { weight: 1, arbitrary: step('recall', { key }) },
  { weight: 5, arbitrary: step('limit', { name: limitsWith(false), values: limitValues(1) }) },
  { weight: 2, arbitrary: step('limit', { name: limitsWith(true), values: limitValues(MOST_UNITS) }) },
  { weight: 2, arbitrary: step('topics', { count: between(1, 4) }) },
  {
    weight: 4,
    arbitrary: step('pause', {
      agent: fc.constantFrom('packer', 'labeller', 'auditor', 'approver', ...Object.keys(FLOW_AGENTS)),
      ms: between(0, 3_000),
    }),
  },
  { weight: 1, arbitrary: step('batch', { rows: between(1, 20) }) },
  {
    weight: 8,
    arbitrary: step('replay', {
      pick,
      mode: fc.constantFrom<ReplayMode[]>('full', 'recorded', 'shadow'),
      cancelAfter,
    }),
  },
  {
    weight: 6,
    arbitrary: step('experiment', {
      tried: fc.constantFrom<(keyof typeof TRIED)[]>('Order', 'Trip'),
      pick,
      rows: between(1, 4),
      mode: fc.constantFrom<ReplayMode[]>('full', 'recorded'),
      cancelAfter,
    }),
  },
  { weight: 4, arbitrary: step('crash', { turns: between(0, 200), inCommit: fc.boolean() }) },
  { weight: 1, arbitrary: step('suspend', { hours: between(1, 6) }) },
  { weight: 1, arbitrary: step('stall', { ms: between(31_000, 45_000) }) },
  { weight: 1, arbitrary: step('setClock', { ms: between(-5_000, 5_000) }) },
  { weight: 1, arbitrary: step('fullDisk', { pages: between(0, 20), ms: between(0, 2_000) }) },
);

const MOST_OPERATIONS = 40;

/** Shrinks to fewer and simpler steps. Without a bias, because each seed makes one list. */
export const operations = fc.noBias(fc.array(operation, { maxLength: MOST_OPERATIONS, size: 'max' }));
