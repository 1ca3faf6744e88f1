import fc from 'fast-check';

import { Catalog } from '../../src/catalog/catalog.js';
import { newId } from '../../src/common/ids.js';
import type { PreparedEngine } from '../../src/engines/engine.js';
import { eventually } from '../support/eventually.js';
import { printedSeed } from '../support/random.js';
import { type Core, startCore } from './core.js';
import { agents, allSettled, engines, publication, publications, types } from './scripted-agents.js';

const plans = fc.record({
  list: publications,
  /** The publish before which the correlation is cancelled, and the number of turns of the event loop in between. */
  cancelBefore: fc.integer({ min: 1, max: 12 }),
  turns: fc.integer({ min: 0, max: 30 }),
  cancelled: fc.integer({ min: 1, max: 3 }),
});

/** The correlation of every invocation of an engine so far. */
const invoked: string[] = [];

const watched = Object.fromEntries(
  Object.entries(engines).map(([name, engine]): [string, PreparedEngine] => [
    name,
    {
      run: (inputs, context) => {
        invoked.push(context.correlationId);
        return engine.run(inputs, context);
      },
    },
  ]),
);

/** Uses the core on a database. The agents are scripted: they do what the artifacts say. */
describe('cancelling a correlation at any moment', () => {
  let core: Core;

  beforeAll(async () => {
    core = await startCore(new Catalog(types, agents), watched, { maxExecutionsPerCorrelation: 20 });
  });

  afterAll(() => core.close());

  it('ends it immediately and for good, and lets the others finish as they would have', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async ({ list, cancelBefore, turns, cancelled }) => {
        const run = newId();
        const id = `${run}-${cancelled}`;
        const before = list.slice(0, cancelBefore);
        await Promise.all(
          before.map((part) => core.publisher.publish(publication(part, `${run}-${part.correlation}`))),
        );
        for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        const isCancelled = await cancel(core, id);
        const invokedBefore = invoked.length;
        const atAnswer = isCancelled ? await factsOf(core, id) : null;
        if (isCancelled) await checkNothingWaits(core, id);

        const others = list.slice(cancelBefore).filter((part) => !(isCancelled && part.correlation === cancelled));
        await Promise.all(
          others.map((part) => core.publisher.publish(publication(part, `${run}-${part.correlation}`))),
        );
        const ids = [...new Set([...before, ...others].map((part) => `${run}-${part.correlation}`))];
        await eventually('every other correlation has settled', () => allSettled(core, ids));

        await checkPlaces(core);
        if (atAnswer) expect(await factsOf(core, id)).toEqual(atAnswer);
        if (isCancelled) expect(invoked.slice(invokedBefore)).not.toContain(id);
        await checkEnds(core, ids);
      }),
      { seed: printedSeed(), numRuns: Number(process.env.STARLING_PROPERTY_RUNS ?? 80) },
    );
  });
});

/** Returns false if the correlation had finished, or never existed. */
async function cancel(core: Core, id: string): Promise<boolean> {
  const before = await core.unitOfWork.reader
    .selectFrom('correlations')
    .select('state')
    .where('id', '=', id)
    .executeTakeFirst();
  try {
    await core.unitOfWork.run((tx) => core.cancellation.cancel(tx, id));
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: before ? 'conflict' : 'not_found' });
    return false;
  }
}

/** Returns the state that must not change after the answer. */
async function factsOf(core: Core, id: string): Promise<object> {
  const { reader } = core.unitOfWork;
  const correlation = await reader
    .selectFrom('correlations')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const artifacts = await reader
    .selectFrom('artifacts')
    .select('id')
    .where('correlation_id', '=', id)
    .orderBy('seq')
    .execute();
  const executions = await reader
    .selectFrom('executions')
    .select(['id', 'state', 'attempt', 'lease_token', 'ended_at'])
    .where('correlation_id', '=', id)
    .orderBy('seq')
    .execute();
  expect(correlation).toMatchObject({ state: 'cancelled', closed: 1, pending: 0 });
  expect(
    executions.filter(({ state, lease_token }) => state === 'pending' || state === 'running' || lease_token !== null),
  ).toEqual([]);
  return { correlation, artifacts, executions };
}

async function checkNothingWaits(core: Core, id: string): Promise<void> {
  const { reader } = core.unitOfWork;
  const waiting = await reader
    .selectFrom('join_arrivals')
    .innerJoin('join_groups', 'join_groups.id', 'join_arrivals.group_id')
    .select('artifact_seq')
    .where('correlation_id', '=', id)
    .where('state', '=', 'waiting')
    .execute();
  expect(waiting).toEqual([]);
  const artifacts = await reader.selectFrom('artifacts').select('seq').where('correlation_id', '=', id).execute();
  const releases = await reader.selectFrom('timers').select('subject').where('kind', '=', 'release').execute();
  expect(releases.filter(({ subject }) => artifacts.some(({ seq }) => String(seq) === subject))).toEqual([]);
}

/**
 * Checks that in every sequence of groups that wait for the same key, those that have a type come before those that
 * lack it.
 */
async function checkPlaces(core: Core): Promise<void> {
  const { reader } = core.unitOfWork;
  const groups = await reader
    .selectFrom('join_groups')
    .selectAll()
    .where('state', '=', 'waiting')
    .orderBy('ordinal')
    .execute();
  const members = await reader
    .selectFrom('join_arrivals')
    .selectAll()
    .orderBy('group_id')
    .orderBy('position')
    .execute();
  const membersOf = Map.groupBy(members, ({ group_id }) => group_id);
  for (const places of Map.groupBy(groups, ({ agent, subscription, key }) =>
    JSON.stringify([agent, subscription, key]),
  ).values()) {
    const held = places.map(({ id }) => (membersOf.get(id) ?? []).map(({ type }) => type));
    if (places[0]!.key !== '') {
      for (const type of new Set(held.flat())) {
        const lacking = held.findIndex((types) => !types.includes(type));
        expect(lacking < 0 ? [] : held.slice(lacking).filter((types) => types.includes(type))).toEqual([]);
      }
    }
    for (const group of places) await checkGroup(core, group, membersOf.get(group.id) ?? []);
  }
}

async function checkGroup(
  core: Core,
  group: { id: string; size: number; ordinal: number; closes_at: number | null },
  members: { position: number; ordinal: number }[],
): Promise<void> {
  expect(members.length).toBeGreaterThan(0);
  expect(group.size).toBe(members.length);
  expect(members.map(({ position }) => position)).toEqual(members.map((_member, index) => index));
  expect(new Set(members.map(({ ordinal }) => ordinal))).toEqual(new Set([group.ordinal]));
  const timers = await core.unitOfWork.reader
    .selectFrom('timers')
    .select('due_at')
    .where('kind', '=', 'close')
    .where('subject', '=', group.id)
    .execute();
  expect(timers).toEqual(group.closes_at === null ? [] : [{ due_at: group.closes_at }]);
}

async function checkEnds(core: Core, ids: string[]): Promise<void> {
  const rows = await core.unitOfWork.reader
    .selectFrom('correlations')
    .select(['id', 'state', 'pending'])
    .where('id', 'in', ids)
    .execute();
  for (const { pending } of rows) expect(pending).toBe(0);
  const open = await core.unitOfWork.reader
    .selectFrom('executions')
    .select('id')
    .where('correlation_id', 'in', ids)
    .where('state', 'in', ['pending', 'running'])
    .execute();
  expect(open).toEqual([]);
}
