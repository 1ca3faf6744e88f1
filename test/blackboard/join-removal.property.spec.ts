import fc from 'fast-check';

import { Catalog } from '../../src/catalog/catalog.js';
import { newId } from '../../src/common/ids.js';
import type { PreparedEngine } from '../../src/engines/engine.js';
import { eventually } from '../support/eventually.js';
import { printedSeed } from '../support/random.js';
import { agent, anyObject, type Core, startCore } from './core.js';

const HOUR = 3_600_000;
const CANCELLED = 0;

/** Artifact `n` of a correlation. `D` completes a join, and so is published only after the cancelling. */
const arrivals = (types: string[], correlations: number[]) =>
  fc.array(fc.record({ type: fc.constantFrom(...types), correlation: fc.constantFrom(...correlations) }), {
    maxLength: 25,
  });

const plans = fc.record({
  before: arrivals(['A', 'B', 'C'], [CANCELLED, 1, 2, 3]),
  after: arrivals(['A', 'B', 'C', 'D', 'D'], [1, 2, 3]),
});

type Arrival = { type: string; correlation: number };
type Numbered = Arrival & { n: number };

const consumes = { types: ['A', 'B', 'C', 'D'] };
const agents = [
  agent('patient', [{ ...consumes, join: { by: 'payload.key', withinMs: null } }], []),
  agent('hurried', [{ ...consumes, join: { by: 'payload.key', withinMs: HOUR } }], []),
  agent('window', [{ types: ['A', 'C'], mode: 'any', batch: { size: 1_000_000, timeoutMs: HOUR, key: null } }], []),
  agent(
    'windows',
    [{ types: ['A', 'C'], mode: 'any', batch: { size: 1_000_000, timeoutMs: HOUR, key: 'payload.half' } }],
    [],
  ),
];
const engine: PreparedEngine = { run: async () => ({}) };

/** Uses the core on two databases. The agents are fakes that do nothing. */
describe('cancelling a correlation whose artifacts wait among others', () => {
  let withCancelled: Core;
  let without: Core;
  const start = () =>
    startCore(
      new Catalog(['A', 'B', 'C', 'D', 'WorkflowError'].map(anyObject), agents),
      Object.fromEntries(agents.map(({ name }) => [name, engine])),
    );

  beforeAll(async () => {
    [withCancelled, without] = await Promise.all([start(), start()]);
  });

  afterAll(() => Promise.all([withCancelled.close(), without.close()]));

  it('leaves the state that would exist if they had never arrived', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const run = newId();
        const before = plan.before.map((arrival, n) => ({ ...arrival, n }));
        const after = plan.after.map((arrival, n) => ({ ...arrival, n: before.length + n }));
        await publish(withCancelled, run, [{ type: 'A', correlation: CANCELLED, n: -1 }, ...before]);
        await publish(
          without,
          run,
          before.filter(({ correlation }) => correlation !== CANCELLED),
        );
        await withCancelled.unitOfWork.run((tx) => withCancelled.cancellation.cancel(tx, `${run}-${CANCELLED}`));
        expect(await waiting(withCancelled, run)).toEqual(await waiting(without, run));
        await checkCount(withCancelled);

        await publish(withCancelled, run, after);
        await publish(without, run, after);
        for (const core of [withCancelled, without])
          await eventually('all that was joined has run', () => hasRun(core));
        expect(await waiting(withCancelled, run)).toEqual(await waiting(without, run));
        expect(await joined(withCancelled, run)).toEqual(await joined(without, run));
        await checkClocks(withCancelled);
        for (const core of [withCancelled, without]) await checkCount(core);
      }),
      { seed: printedSeed(), numRuns: Number(process.env.STARLING_PROPERTY_RUNS ?? 60) },
    );
  });
});

async function publish(core: Core, run: string, list: Numbered[]): Promise<void> {
  // One after another: if artifacts are published at the same time, the publisher does not decide their order.
  for (const { type, correlation, n } of list) {
    await core.publisher.publish({
      artifactId: newId(),
      correlationId: `${run}-${correlation}`,
      type,
      payload: { key: run, n, half: `${run} ${correlation % 2}` },
      tags: [],
      partitionKey: null,
      visibility: { kind: 'Public' },
    });
  }
}

/**
 * Returns this run's groups in order, the number of its artifacts in the windows in the order of arrival, and what keeps
 * each correlation open.
 */
async function waiting(core: Core, run: string): Promise<object> {
  const rows = await core.unitOfWork.reader
    .selectFrom('join_arrivals')
    .innerJoin('join_groups', 'join_groups.id', 'join_arrivals.group_id')
    .innerJoin('artifacts', 'artifacts.seq', 'join_arrivals.artifact_seq')
    .select([
      'join_groups.agent',
      'group_id',
      'size',
      'position',
      'join_groups.ordinal',
      'join_arrivals.ordinal as own_ordinal',
      'payload',
    ])
    .where('join_arrivals.correlation_id', 'like', `${run}-%`)
    .orderBy('join_groups.agent')
    .orderBy('join_groups.key')
    .orderBy('join_groups.ordinal')
    .orderBy('position')
    .execute();
  for (const { ordinal, own_ordinal } of rows) expect(own_ordinal).toBe(ordinal);
  const correlations = await core.unitOfWork.reader
    .selectFrom('correlations')
    .select(['id', 'state', 'pending'])
    .where('id', 'like', `${run}-%`)
    .where('id', '<>', `${run}-${CANCELLED}`)
    .orderBy('id')
    .execute();
  const groups = [...Map.groupBy(rows, ({ group_id }) => group_id).values()].map((members) => ({
    agent: members[0]!.agent,
    size: members[0]!.size,
    members: members.map(({ position, payload }) => ({ position, n: numberOf(payload) })),
  }));
  return { groups, correlations };
}

/** Returns the inputs of each execution of this run. */
async function joined(core: Core, run: string): Promise<object> {
  const rows = await core.unitOfWork.reader
    .selectFrom('executions')
    .innerJoin('execution_inputs', 'execution_inputs.execution_id', 'executions.id')
    .innerJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
    .select(['executions.id', 'executions.agent', 'payload'])
    .where('executions.correlation_id', 'like', `${run}-%`)
    .orderBy('executions.seq')
    .orderBy('position')
    .execute();
  return [...Map.groupBy(rows, ({ id }) => id).values()].map((inputs) => [
    inputs[0]!.agent,
    ...inputs.map(({ payload }) => numberOf(payload)),
  ]);
}

const numberOf = (payload: string): unknown => (JSON.parse(payload) as { n: unknown }).n;

async function hasRun(core: Core): Promise<boolean> {
  const open = await core.unitOfWork.reader
    .selectFrom('executions')
    .select('id')
    .where('state', 'in', ['pending', 'running'])
    .execute();
  return open.length === 0;
}

/** Checks that the counts that are kept with the commits equal the rows. */
async function checkCount(core: Core): Promise<void> {
  const members = await core.unitOfWork.reader
    .selectFrom('join_arrivals')
    .innerJoin('join_groups', 'join_groups.id', 'join_arrivals.group_id')
    .select('artifact_seq')
    .where('state', '=', 'waiting')
    .execute();
  expect(core.arrivals.count).toBe(members.length);
}

/** Checks that the time limit of each group starts at its first arrival, and that one timer expires it then. */
async function checkClocks(core: Core): Promise<void> {
  const groups = await core.unitOfWork.reader
    .selectFrom('join_groups')
    .innerJoin('join_arrivals', 'join_arrivals.group_id', 'join_groups.id')
    .selectAll('join_groups')
    .select('arrived_at')
    .where('position', '=', 0)
    .where('closes_at', 'is not', null)
    .execute();
  const timers = await core.unitOfWork.reader
    .selectFrom('timers')
    .select(['subject', 'due_at'])
    .where('kind', '=', 'close')
    .execute();
  expect(new Map(timers.map(({ subject, due_at }) => [subject, due_at]))).toEqual(
    new Map(groups.map(({ id, arrived_at }) => [id, arrived_at + HOUR])),
  );
  expect(timers.length).toBe(groups.length);
}
