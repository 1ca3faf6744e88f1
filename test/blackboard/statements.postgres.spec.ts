import { sql } from 'kysely';
import pg from 'pg';

import { fieldsOf, insertNewCorrelations } from '../../src/blackboard/correlations/correlation-rows.js';
import type { Publication } from '../../src/blackboard/publishing/publication.js';
import { Catalog } from '../../src/catalog/catalog.js';
import type { Clock } from '../../src/common/clock.js';
import { newId } from '../../src/common/ids.js';
import type { Settings } from '../../src/config/settings.js';
import { POSTGRES } from '../../src/database/dialects/dialect.js';
import { Batch, type Query } from '../../src/database/dialects/postgres-batch.js';
import { places, prepared, preparedInsert } from '../../src/database/prepared.js';
import { sharedInsert } from '../../src/database/shared-statement.js';
import type { Transaction } from '../../src/database/unit-of-work.js';
import type { PreparedEngine } from '../../src/engines/engine.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { agent, anyObject, type Core, startCore } from './core.js';

const AGENTS = 3;
/** Three executions, from the publish until the answer of the last one is stored. */
const MOST_IN_CHAIN = 30;
/** Two for the publish and for each outcome, one for the wait, and those of the process itself meanwhile. */
const MOST_ROUND_TRIPS = 12;
/** One round trip stores the artifact, the other one everything that follows from it. */
const INLINE = { roundTrips: 2, statements: 6 };
/** The same, while 32 chains run at the same time. */
const MOST_IN_CROWD = 12;
/** The background work of a process falls into some of the measured times, the more the slower the machine is. */
const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;
const inTurn = async <T>(times: number, work: () => Promise<T>): Promise<T[]> => {
  const results: T[] = [];
  while (results.length < times) results.push(await work());
  return results;
};

const insertRollup = preparedInsert('rollups', ['name', 'up_to_seq']);
const insertTogether = sharedInsert('rollups', ['name', 'up_to_seq']);
const insertLocksTogether = sharedInsert('scheduler_locks', ['name', 'due_at']);
const insertLock = preparedInsert('scheduler_locks', ['name', 'due_at']);
const updateRollup = prepared<{ name: string; up_to_seq: number }, unknown>((db, place) =>
  db
    .updateTable('rollups')
    .set(places(place, ['up_to_seq']))
    .where('name', '=', place('name')),
);
const updateLock = prepared<{ name: string; due_at: number }, { name: string }>((db, place) =>
  db
    .updateTable('scheduler_locks')
    .set(places(place, ['due_at']))
    .where('name', '=', place('name'))
    .returning('name'),
);
const insertLockOf = prepared<{ name: string }, unknown>((db, place) =>
  db
    .insertInto('scheduler_locks')
    .columns(['name', 'due_at'])
    .expression(sql`select name, up_to_seq from rollups where name = ${place('name')}`),
);

const published = (type: string, artifactId = newId()): Publication => ({
  artifactId,
  correlationId: newId(),
  isNewCorrelation: true,
  type,
  payload: {},
  tags: [],
  partitionKey: null,
  visibility: { kind: 'Public' },
});

// Uses the core on a Postgres server, and counts what the driver is asked to send.
describe('the statements of a transaction', () => {
  let core: Core;
  let start: (overrides: Partial<Settings>, clock?: Clock) => Promise<Core>;
  const sent: string[] = [];
  const { add, submitAll } = Batch.prototype;
  const { query } = pg.Client.prototype;
  const answers = new WeakMap<Batch, Promise<unknown>[]>();
  /** How many batches of each connection have no answer yet. The first one begins a round trip. */
  const unanswered = new Map<pg.ClientBase, number>();
  let roundTrips = 0;

  beforeAll(async () => {
    Batch.prototype.add = function (this: Batch, query: Query) {
      sent.push(query.text);
      const answer = add.call(this, query);
      answers.set(this, [...(answers.get(this) ?? []), answer]);
      return answer;
    };
    Batch.prototype.submitAll = function (this: Batch) {
      const { client } = this;
      const before = unanswered.get(client) ?? 0;
      if (before === 0) roundTrips += 1;
      unanswered.set(client, before + 1);
      void Promise.allSettled(answers.get(this)!).then(() => unanswered.set(client, unanswered.get(client)! - 1));
      submitAll.call(this);
    };
    pg.Client.prototype.query = function (this: pg.Client, ...args: [string | { text: string }]) {
      if (!(args[0] instanceof Batch)) sent.push(typeof args[0] === 'string' ? args[0] : args[0].text);
      return Reflect.apply(query, this, args) as never;
    } as typeof query;
    const chain = ['One', 'Two', 'Three'].map((type, index) =>
      agent(`agent-${index}`, [{ types: [type] }], [['Two', 'Three', 'Four'][index]!]),
    );
    const limit = { name: 'calls', concurrency: 1_000, rate: null, units: null, hold: false };
    const limited = agent('limited', [{ types: ['Limited'] }], [], { limits: [{ name: limit.name, key: null }] });
    const computing = ['Five', 'Six', 'Seven'].map((type, index) =>
      agent(`computing-${index}`, [{ types: [type] }], [['Six', 'Seven', 'Eight'][index]!]),
    );
    const agents = [...chain, limited, ...computing];
    const types = ['One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Limited', 'WorkflowError'].map(
      anyObject,
    );
    const engines = Object.fromEntries(
      agents.map((each): [string, PreparedEngine] => {
        const answer = each.outputs.length === 0 ? null : {};
        const runInline = computing.includes(each) ? () => ({ answer }) : undefined;
        return [each.name, { run: async () => answer, ...(runInline && { runInline }) }];
      }),
    );
    const catalog = new Catalog(types, agents, '.', { limits: new Map([[limit.name, limit]]) });
    start = (overrides, clock) => startCore(catalog, engines, overrides, clock);
    core = await start({ leaseMs: 1_000 });
  });

  afterAll(async () => {
    Object.assign(Batch.prototype, { add, submitAll });
    pg.Client.prototype.query = query;
    await core.close();
  });

  beforeEach(() => void sent.splice(0));

  const run = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => core.unitOfWork.run(work);
  const changes = (): string[] => sent.filter((text) => text.includes('rollups') || text.includes('scheduler_locks'));
  const rollups = (): Promise<{ name: string; up_to_seq: number }[]> =>
    core.unitOfWork.reader.selectFrom('rollups').selectAll().where('name', 'like', 'test%').orderBy('name').execute();

  it('are combined if they are changes of different tables', async () => {
    const updated = await run(async ({ db }) => {
      await insertLock(db, [{ name: 'test', due_at: 1 }]);
      await insertRollup(db, [{ name: 'test', up_to_seq: 1 }]);
      await insertRollup(db, [{ name: 'test 2', up_to_seq: 2 }]);
      return updateLock(db, { name: 'test', due_at: 2 });
    });
    // The update of the new lock has a separate statement, because it would not see the row otherwise.
    expect(updated).toEqual([{ name: 'test' }]);
    expect(changes()).toHaveLength(2);

    sent.splice(0);
    const again = await run(async ({ db }) => {
      await updateRollup(db, { name: 'test', up_to_seq: 5 });
      return updateLock(db, { name: 'test', due_at: 3 });
    });
    expect(again).toEqual([{ name: 'test' }]);
    expect(changes()).toHaveLength(1);
    expect(await rollups()).toEqual([
      { name: 'test', up_to_seq: 5 },
      { name: 'test 2', up_to_seq: 2 },
    ]);
  });

  it('are not combined if one reads what another one changes', async () => {
    await run(async ({ db }) => {
      await insertRollup(db, [{ name: 'test 3', up_to_seq: 3 }]);
      await insertLockOf(db, { name: 'test 3' });
    });
    expect(await run(({ db }) => updateLock(db, { name: 'test 3', due_at: 4 }))).toEqual([{ name: 'test 3' }]);
  });

  it('keep their order if they change the same row', async () => {
    await run(async ({ db }) => {
      for (const up_to_seq of [7, 8, 9]) await updateRollup(db, { name: 'test', up_to_seq });
    });
    expect((await rollups())[0]).toEqual({ name: 'test', up_to_seq: 9 });
  });

  it('write nothing if one of them fails, and its error is passed on', async () => {
    const failed = run(async ({ db }) => {
      await updateRollup(db, { name: 'test', up_to_seq: 100 });
      await insertLock(db, [{ name: 'test', due_at: 1 }]);
    });
    await expect(failed).rejects.toThrow('duplicate key value violates unique constraint "scheduler_locks_pkey"');
    expect((await rollups())[0]).toEqual({ name: 'test', up_to_seq: 9 });
  });

  const insertInGroup = (name: string, end = (): void => undefined): Promise<void> =>
    core.unitOfWork.run(
      async ({ db }) => {
        await insertTogether(db, [{ name, up_to_seq: 1 }]);
        end();
      },
      { group: { kind: 'test', key: name } },
    );

  it('are shared by transactions of the same kind', async () => {
    const groups = await inTurn(9, async () => {
      sent.splice(0);
      const names = ['g1', 'g2', 'g3'].map((name) => `test ${name} ${newId()}`);
      await Promise.all(names.map((name) => insertInGroup(name)));
      const counts = { changes: changes().length, commits: sent.filter((text) => text === 'commit').length };
      const stored = (await rollups()).map(({ name }) => name);
      expect(stored).toEqual(expect.arrayContaining(names));
      return counts;
    });
    expect(median(groups.map((group) => group.changes))).toBe(1);
    expect(median(groups.map((group) => group.commits))).toBe(1);
  });

  it('insert the rows of each table together, whatever is inserted between them', async () => {
    const inserts = await inTurn(9, async () => {
      sent.splice(0);
      const names = ['g1', 'g2'].map((name) => `test ${name} ${newId()}`);
      const insert = async (name: string): Promise<void> =>
        core.unitOfWork.run(
          async ({ db }) => {
            await insertTogether(db, [{ name, up_to_seq: 1 }]);
            await insertLocksTogether(db, [{ name, due_at: 1 }]);
            await insertTogether(db, [{ name: `${name} too`, up_to_seq: 2 }]);
          },
          { group: { kind: 'test', key: name } },
        );
      await Promise.all(names.map(insert));
      const stored = (await rollups()).filter(({ name }) => names.some((each) => name.startsWith(each)));
      expect(stored.map(({ up_to_seq }) => up_to_seq)).toEqual([1, 2, 1, 2]);
      return changes()
        .join()
        .match(/insert into "rollups"/g)!.length;
    });
    expect(median(inserts)).toBe(1);
  });

  it('run again for each transaction by itself, if one of a group fails', async () => {
    const refuse = (): void => {
      throw new Error('refused');
    };
    const ends = await Promise.allSettled([
      insertInGroup('test h1'),
      insertInGroup('test h2', refuse),
      insertInGroup('test'),
      insertInGroup('test h3'),
    ]);
    expect(ends).toMatchObject([
      { status: 'fulfilled' },
      { reason: { message: 'refused' } },
      { reason: { message: 'duplicate key value violates unique constraint "rollups_pkey"' } },
      { status: 'fulfilled' },
    ]);
    const names = (await rollups()).map(({ name }) => name);
    expect(names.filter((name) => ['test h1', 'test h2', 'test h3'].includes(name))).toEqual(['test h1', 'test h3']);
  });

  it('store the same values together and alone', async () => {
    const texts = [
      '',
      ' ',
      'NULL',
      'null',
      'a,b',
      '{}',
      '{"a":[1]}',
      '\\',
      '\\"',
      "'",
      '\n\t\u0001',
      'é😀',
      'a\0b',
      '\ud800',
      null,
    ];
    const costs = [null, 0, 0.1, 1e-7, -12_345.678, 1e21];
    const rows = texts.map((traceparent, index) => ({
      ...fieldsOf({ id: newId(), now: 1, has_run: 0, traceparent }),
      cost: costs[index % costs.length]!,
    }));
    const alone = rows.map((row) => ({ ...row, id: newId() }));
    await run((tx) => tx.each(rows, ({ db }, row) => insertNewCorrelations(db, [row])));
    for (const row of alone) await run(({ db }) => insertNewCorrelations(db, [row]));
    const stored = (ids: string[]): Promise<object[]> =>
      core.unitOfWork.reader
        .selectFrom('correlations')
        .select(['traceparent', 'cost', 'replay_mode', 'limited_agents'])
        .where('id', 'in', ids)
        .orderBy('seq')
        .execute();
    const together = await stored(rows.map(({ id }) => id));
    expect(together).toEqual(await stored(alone.map(({ id }) => id)));
    expect(together.slice(0, 12)).toEqual(
      rows.slice(0, 12).map(({ traceparent, cost }) => expect.objectContaining({ traceparent, cost })),
    );
  });

  it('insert the new correlations of the others, if one of a group fails', async () => {
    const known = published('Four');
    await core.publisher.publish(known);
    const some = [published('Four'), published('Four', known.artifactId), published('Four')];
    const answers = await Promise.all(some.map((publication) => core.publisher.publish(publication)));
    expect(answers.map(({ isRepeated }) => isRepeated)).toEqual([false, true, false]);
    const rows = await core.unitOfWork.reader
      .selectFrom('correlations')
      .select(['id', 'state', 'artifact_count'])
      .where(
        'id',
        'in',
        some.map(({ correlationId }) => correlationId),
      )
      .orderBy('seq')
      .execute();
    const ends = { state: 'completed', artifact_count: 1 };
    expect(rows.map(({ id }) => id).sort()).toEqual([some[0]!.correlationId, some[2]!.correlationId].sort());
    expect(rows).toMatchObject([ends, ends]);
  });

  async function runChain(type = 'One', { publisher, waiters } = core): Promise<void> {
    const { correlationId, generation } = await publisher.publish(published(type));
    expect(await waiters.wait(correlationId, generation, 90_000)).toBe(true);
  }

  it(`are at most ${MOST_IN_CHAIN} in ${MOST_ROUND_TRIPS} round trips for three agents in a chain`, async () => {
    await runChain();
    const chains = await inTurn(20, async () => {
      sent.splice(0);
      roundTrips = 0;
      await runChain();
      return { statements: sent.length, roundTrips };
    });
    expect(median(chains.map(({ statements }) => statements))).toBeLessThan(MOST_IN_CHAIN);
    expect(median(chains.map((chain) => chain.roundTrips))).toBeLessThan(MOST_ROUND_TRIPS);
  });

  it(`are ${INLINE.statements} in ${INLINE.roundTrips} round trips for three agents in a chain that only compute, if a client waits`, async () => {
    const chains = await inTurn(20, async () => {
      sent.splice(0);
      roundTrips = 0;
      const { correlationId } = await core.publisher.publish({ ...published('Five'), isAwaited: true });
      const count = { roundTrips, statements: sent.length };
      const stored = await core.unitOfWork.reader
        .selectFrom('artifacts')
        .select('type')
        .where('correlation_id', '=', correlationId)
        .orderBy('seq')
        .execute();
      expect(stored.map(({ type }) => type)).toEqual(['Five', 'Six', 'Seven', 'Eight']);
      return count;
    });
    // The first times, connections may be opened, and the background work of the process falls into some.
    const fewest = (key: keyof typeof INLINE): number => Math.min(...chains.map((count) => count[key]));
    expect({ roundTrips: fewest('roundTrips'), statements: fewest('statements') }).toEqual(INLINE);
  });

  it(`are at most ${MOST_IN_CROWD} for each of 32 such chains at the same time`, async () => {
    const chains = 32;
    const runAll = (): Promise<unknown> => Promise.all(Array.from({ length: chains }, () => runChain()));
    await runAll();
    const rounds = await inTurn(9, async () => {
      sent.splice(0);
      await runAll();
      return sent.length / chains;
    });
    expect(median(rounds)).toBeLessThan(MOST_IN_CROWD);
  });

  it('store few rows of activity for executions that start or end at the same time', async () => {
    const chains = 32;
    const lastRow = async (): Promise<number> => {
      const last = POSTGRES.lastPosition('activity');
      const { rows } = await sql<{ last: number }>`select ${last} as last`.execute(core.unitOfWork.reader);
      return rows[0]!.last;
    };
    const rounds = await inTurn(9, async () => {
      const before = await lastRow();
      await Promise.all(Array.from({ length: chains }, () => runChain()));
      return (await lastRow()) - before;
    });
    // A start and an end of each execution.
    expect(median(rounds)).toBeLessThan((2 * AGENTS * chains) / 2);
  });

  it('look for a full limit once for all that is published at the same time', async () => {
    const executions = 32;
    const runAll = (): Promise<unknown> => Promise.all(Array.from({ length: executions }, () => runChain('Limited')));
    await runAll();
    const rounds = await inTurn(9, async () => {
      sent.splice(0);
      await runAll();
      return sent.filter((text) => /given.*blocked_on.* is not null/s.test(text) || /^select "blocked_on"/.test(text));
    });
    expect(median(rounds.map((looks) => looks.length))).toBeLessThan(executions / 4);
    expect(rounds.flat()).not.toHaveLength(0);
  });

  it('look once for all executions that end within some milliseconds, while none waits for a limit', async () => {
    const clock = new ManualClock();
    const still = await start({}, clock);
    const looks = (): number =>
      sent.filter((text) => text.startsWith('select "asked"."column1" as "blocked_on"')).length;
    try {
      await eventually('five ends need at most one look', async () => {
        sent.splice(0);
        await inTurn(5, () => runChain('Limited', still));
        return looks() <= 1;
      });
      await eventually('the look comes', async () => {
        await runChain('Limited', still);
        sent.splice(0);
        clock.advance(10);
        await runChain('Limited', still);
        return looks() === 1;
      });
    } finally {
      await still.close();
    }
  });

  it('are the same few for each round of claims of several agents, while two processes share them', async () => {
    const other = await start({ databaseUrl: core.databaseUrl, leaseMs: 60_000 });
    try {
      await runChain();
      sent.splice(0);
      await Promise.all(Array.from({ length: 8 }, () => runChain()));
      const having = (...parts: string[]): number =>
        sent.filter((text) => parts.every((part) => text.includes(part))).length;
      const rounds = having('agent_pauses', 'select *');
      expect(rounds).toBeGreaterThan(0);
      // At the beginning and at the end of the measured time, a round of either process may be under way.
      const PARTS = 4;
      for (const statements of [having('pg_advisory_xact_lock'), having(`"state" = 'running'`, '"claim" >')])
        expect(Math.abs(statements - rounds)).toBeLessThanOrEqual(PARTS);
      // One for each agent, for both ranks.
      expect(having('"agent" as "queue"', 'order by')).toBeLessThanOrEqual((rounds + PARTS) * AGENTS);
    } finally {
      await other.close();
    }
  });

  it('notify other processes only while there are any', async () => {
    const notifications = (): number => sent.filter((text) => text.includes('pg_notify')).length;
    const chainIsNotified = async (): Promise<boolean> => {
      sent.splice(0);
      await runChain();
      // That it has settled is sent just after it, so while the next chain runs.
      await runChain();
      return notifications() > 0;
    };
    await eventually('a process that is alone sends none', async () => !(await chainIsNotified()));
    const other = await start({ databaseUrl: core.databaseUrl, leaseMs: 1_000 });
    await eventually('the other process gets some', chainIsNotified);
    await other.close();
    await eventually('it is alone again', async () => !(await chainIsNotified()));
  });
});
