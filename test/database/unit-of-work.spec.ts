import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';

import { sql } from 'kysely';

import { replaceScheduler, scheduler } from '../../src/common/scheduler.js';
import { SQLITE } from '../../src/database/dialects/dialect.js';
import type { SqliteDatabase } from '../../src/database/dialects/sqlite-database.js';
import { migrate } from '../../src/database/migrations/migrate.js';
import type { Transaction } from '../../src/database/unit-of-work.js';
import { Files, unitOfWorkOn } from './files.js';

// Uses the file, its migrated tables and a second connection that reads what is committed.
describe('the unit of work on a SQLite file', () => {
  const files = new Files();
  let database: SqliteDatabase;
  let other: DatabaseSync;
  let parts: ReturnType<typeof unitOfWorkOn>;

  beforeEach(async () => {
    const path = files.path();
    database = files.open(path);
    await migrate(database.writer, SQLITE);
    other = files.look(path);
    parts = unitOfWorkOn(database);
    // A group takes no more closures after some milliseconds, which a busy machine may need for the first one.
    takeBack = replaceScheduler(Object.assign(Object.create(scheduler) as typeof scheduler, { elapsed: () => 0 }));
  });

  let takeBack: () => void = () => undefined;
  afterEach(() => takeBack());

  afterAll(() => files.clear());

  const write = (tx: Transaction, name: string) => tx.db.insertInto('rollups').values({ name, up_to_seq: 0 }).execute();
  const run = <T>(work: (tx: Transaction) => Promise<T>) => parts.unitOfWork.run(work);
  /** Returns the committed names, in the order of their writing. */
  const committed = () =>
    other
      .prepare('SELECT name FROM rollups ORDER BY rowid')
      .all()
      .map(({ name }) => name);
  const seenBy = async (tx: Transaction) =>
    (
      await tx.db
        .selectFrom('rollups')
        .select('name')
        .orderBy(sql`rowid`)
        .execute()
    ).map(({ name }) => name);

  it("resolves with the closure's result, after the commit", async () => {
    let before: unknown[] = [];
    const answer = await run(async (tx) => {
      await write(tx, 'a');
      before = committed();
      return 42;
    });
    expect(answer).toBe(42);
    expect(before).toEqual([]);
    expect(committed()).toEqual(['a']);
    expect(await parts.unitOfWork.reader.selectFrom('rollups').select('name').execute()).toEqual([{ name: 'a' }]);
  });

  it('rolls back the writes of a closure that rejects, and not those beside it in the group', async () => {
    const failure = new Error('refused');
    const outcomes = await Promise.allSettled([
      run((tx) => write(tx, 'first')),
      run(async (tx) => {
        await write(tx, 'undone');
        await write(tx, 'undone too');
        throw failure;
      }),
      run(async (tx) => {
        expect(await seenBy(tx)).toEqual(['first']);
        await write(tx, 'last');
      }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({ reason: failure });
    expect(committed()).toEqual(['first', 'last']);
  });

  it('rejects if a query fails that the closure does not wait for, also when the closure fails, too', async () => {
    await run((tx) => write(tx, 'first'));
    const failing = (error?: Error) =>
      run((tx) => {
        tx.withAnswer(write(tx, 'first'), () => undefined);
        return error ? Promise.reject(error) : Promise.resolve();
      });
    await expect(failing()).rejects.toThrow('UNIQUE');
    await expect(failing(new Error('refused'))).rejects.toThrow('refused');
    // A rejection that nothing handles would fail this test after a turn of the event loop.
    await setImmediate();
    expect(committed()).toEqual(['first']);
  });

  it('runs the closures of a group again if one of them rejects, with the effects of a commit called once', async () => {
    const runs: string[] = [];
    const effects: string[] = [];
    const running = (name: string) =>
      run(async (tx) => {
        runs.push(name);
        tx.afterCommit(() => effects.push(name));
        await write(tx, name);
        return name;
      });
    const outcomes = await Promise.allSettled([
      running('first'),
      running('second'),
      run(async (tx) => {
        runs.push('rejecting');
        expect(await seenBy(tx)).toEqual(['first', 'second']);
        await write(tx, 'undone');
        throw new Error('refused');
      }),
      running('last'),
    ]);
    expect(runs).toEqual(['first', 'second', 'rejecting', 'first', 'second', 'rejecting', 'last']);
    expect(effects).toEqual(['first', 'second', 'last']);
    expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.status))).toEqual([
      'first',
      'second',
      'rejected',
      'last',
    ]);
    expect(committed()).toEqual(['first', 'second', 'last']);
  });

  it('runs no closure again while some have failed lately, and rolls back each that rejects', async () => {
    const runs: string[] = [];
    const running = (name: string, fails: boolean) =>
      run(async (tx) => {
        runs.push(name);
        await write(tx, name);
        if (fails) throw new Error('refused');
      });
    await Promise.allSettled([running('a', false), running('b', true)]);
    runs.length = 0;
    await Promise.allSettled([running('c', false), running('d', true), running('e', false), running('f', true)]);
    expect(runs).toEqual(['c', 'd', 'e', 'f']);
    expect(committed()).toEqual(['a', 'c', 'e']);
  });

  it('rolls back a closure whose statement the database refuses', async () => {
    const twice = run(async (tx) => {
      await write(tx, 'same');
      await write(tx, 'same');
    });
    await expect(twice).rejects.toThrow(/UNIQUE constraint failed: rollups\.name/);
    await run((tx) => write(tx, 'next'));
    expect(committed()).toEqual(['next']);
  });

  it('runs closures one after another, in their order', async () => {
    const steps: string[] = [];
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    await Promise.all(
      names.map((name) =>
        run(async (tx) => {
          steps.push(`${name} begins`);
          await write(tx, name);
          await seenBy(tx);
          steps.push(`${name} ends`);
        }),
      ),
    );
    expect(steps).toEqual(names.flatMap((name) => [`${name} begins`, `${name} ends`]));
    expect(committed()).toEqual(names);
  });

  it('calls whenVisible before the commit, and a transaction that it queues joins the same commit', async () => {
    const seen: Record<string, unknown> = {};
    let followUp: Promise<unknown> = Promise.reject(new Error('whenVisible was not called'));
    followUp.catch(() => undefined);
    await run(async (tx) => {
      tx.whenVisible(() => {
        seen.effect = committed();
        followUp = run(async (next) => {
          seen.own = await seenBy(next);
          seen.elsewhere = committed();
          await write(next, 'follow-up');
        });
      });
      await write(tx, 'a');
      expect(seen).toEqual({});
    });
    // No other commit came before, because the first closure's commit has included both.
    expect(committed()).toEqual(['a', 'follow-up']);
    await followUp;
    expect(seen).toEqual({ effect: [], own: ['a'], elsewhere: [] });
  });

  it('calls afterCommit after the commit', async () => {
    const seen: unknown[] = [];
    await run(async (tx) => {
      tx.afterCommit(() => seen.push(committed()));
      await write(tx, 'a');
    });
    expect(seen).toEqual([['a']]);
  });

  it('calls no effect of a closure that rejects', async () => {
    const effects: string[] = [];
    const rejected = run(async (tx) => {
      tx.whenVisible(() => effects.push('visible'));
      tx.afterCommit(() => effects.push('committed'));
      await write(tx, 'undone');
      throw new Error('refused');
    });
    const kept = run((tx) => write(tx, 'kept'));
    await expect(rejected).rejects.toThrow('refused');
    await kept;
    expect(effects).toEqual([]);
  });

  it('keeps a commit and the other effects if one effect throws', async () => {
    const effects: string[] = [];
    const broken = () => {
      throw new Error('broken effect');
    };
    await run(async (tx) => {
      [broken, () => effects.push('visible')].forEach((effect) => tx.whenVisible(effect));
      [broken, () => effects.push('committed')].forEach((effect) => tx.afterCommit(effect));
      await write(tx, 'a');
    });
    expect(effects).toEqual(['visible', 'committed']);
    expect(committed()).toEqual(['a']);
  });

  it('shares commits among closures that are queued together, and reports each of them', async () => {
    // Another connection's data_version changes with every commit that it sees; afterCommit reads it before the next
    // one.
    const versions = new Set<unknown>();
    const names = Array.from({ length: 200 }, (_, index) => `n${index}`);
    await Promise.all(
      names.map((name) =>
        run(async (tx) => {
          tx.afterCommit(() => versions.add(other.prepare('PRAGMA data_version').get()!.data_version));
          await write(tx, name);
        }),
      ),
    );
    await parts.unitOfWork.idle();
    expect(committed()).toHaveLength(200);
    expect(versions.size).toBeLessThanOrEqual(50);
    expect(parts.telemetry.transactions).toBe(200);
  });

  it('is idle once all queued closures have finished', async () => {
    const ended: string[] = [];
    void run((tx) => write(tx, 'a')).then(() => ended.push('a'));
    void run((tx) => write(tx, 'b')).then(() => ended.push('b'));
    await parts.unitOfWork.idle();
    expect(ended).toEqual(['a', 'b']);
  });

  it('stops the process if a COMMIT fails for another reason than a full disk, and resolves nothing of its group', async () => {
    // A deferred foreign key makes SQLite itself refuse a COMMIT after every statement succeeded.
    await sql`create table parents (id integer primary key)`.execute(database.writer);
    await sql`create table children (parent integer references parents (id) deferrable initially deferred)`.execute(
      database.writer,
    );
    const outcomes = await Promise.allSettled([
      run((tx) => write(tx, 'beside')),
      run((tx) => sql`insert into children values (1)`.execute(tx.db)),
    ]);
    expect(parts.stops).toEqual(['A commit failed and it is unknown whether it reached the disk']);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(committed()).toEqual([]);
  });
});
