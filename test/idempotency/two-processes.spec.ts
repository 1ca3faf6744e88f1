import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { pino } from 'pino';

import type { Processes } from '../../src/blackboard/processes/processes.js';
import { StoredTexts } from '../../src/blackboard/queries/stored-texts.js';
import { newId } from '../../src/common/ids.js';
import { MemoryBudget } from '../../src/common/memory-budget.js';
import { Settings } from '../../src/config/settings.js';
import type { Database } from '../../src/database/database.js';
import { PostgresDatabase } from '../../src/database/dialects/postgres-database.js';
import { PostgresUnitOfWork } from '../../src/database/dialects/postgres-unit-of-work.js';
import type { SqliteDatabase } from '../../src/database/dialects/sqlite-database.js';
import { SqliteUnitOfWork } from '../../src/database/dialects/sqlite-unit-of-work.js';
import { openDatabase } from '../../src/database/open-database.js';
import type { UnitOfWork } from '../../src/database/unit-of-work.js';
import { IdempotencyService } from '../../src/features/idempotency/idempotency.service.js';
import { IdempotencyKeysRepository } from '../../src/features/idempotency/idempotency-keys.repository.js';
import type { IdempotentAnswer, IdempotentRequest } from '../../src/features/idempotency/idempotent-request.js';
import { KeyReservations } from '../../src/features/idempotency/key-reservations.js';
import type { RequestIds } from '../../src/features/idempotency/request-ids.js';
import { StoredHashes } from '../../src/features/idempotency/stored-hashes.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';

const LEASE_MS = 30_000;

/** Makes a SQLite file report the properties of a database that several processes share. */
class SharedUnitOfWork extends SqliteUnitOfWork {
  override readonly isShared = true;
}

/**
 * Uses two services, each with a different owner, on one database: two processes as far as keys are concerned. The
 * services and the database are real. The clock is faked, and on SQLite the shared database.
 */
describe('a key that two processes receive', () => {
  const logger = pino({ level: 'silent' });
  const telemetry = {
    executionEnded() {},
    executionClaimed() {},
    deliveryTried() {},
    deliveriesGivenUp() {},
    transactionEnded() {},
    predicateFailed() {},
    timerFailed() {},
    streamsOpen() {},
    modelUsed() {},
  };
  let folder: string;
  let stored: TestDatabase;
  let database: Database;
  let unitOfWork: UnitOfWork;
  let clock: ManualClock;
  let first: IdempotencyService;
  let second: IdempotencyService;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'starling-keys-'));
    stored = await databaseOf(folder);
    database = await openDatabase(stored.url);
    clock = new ManualClock();
    unitOfWork = unitOfWorkOn(database);
    const settings = Object.assign(new Settings(), { leaseMs: LEASE_MS, retainKeysMs: 86_400_000 });
    const service = (): IdempotencyService =>
      new IdempotencyService(
        clock,
        new KeyReservations(
          { own: newId() } as Processes,
          clock,
          settings,
          unitOfWork,
          new IdempotencyKeysRepository(),
          new StoredHashes(null),
          new StoredTexts(unitOfWork, new MemoryBudget(1_024)),
          logger,
        ),
        logger,
      );
    [first, second] = [service(), service()];
  });

  afterEach(async () => {
    await database.close();
    await stored.drop();
    await rm(folder, { recursive: true });
  });

  const unitOfWorkOn = (database: Database): UnitOfWork =>
    database instanceof PostgresDatabase
      ? new PostgresUnitOfWork(database, logger, telemetry)
      : new SharedUnitOfWork(database as SqliteDatabase, logger, telemetry, (reason) => {
          throw new Error(reason);
        });

  const request = (hash = 'body'): IdempotentRequest => ({
    endpoint: 'POST /things',
    key: 'k',
    hash,
    newIds: () => ({ madeId: newId(), correlationId: newId() }),
    heldBytes: 0,
    waits: () => undefined,
    releaseBody: () => undefined,
  });

  /** Work that finishes on command, and the ids that it was given. */
  function work(): {
    run: (ids: RequestIds) => Promise<unknown>;
    ids: Promise<RequestIds>;
    end: (result: unknown) => void;
    fail: (error: Error) => void;
  } {
    const began = Promise.withResolvers<RequestIds>();
    const ended = Promise.withResolvers<unknown>();
    const run = (ids: RequestIds): Promise<unknown> => {
      began.resolve(ids);
      return ended.promise;
    };
    return { run, ids: began.promise, end: ended.resolve, fail: ended.reject };
  }

  const never = (): Promise<never> => Promise.reject(new Error('must not be worked on'));

  async function answerOf(pending: Promise<IdempotentAnswer>, stepMs = 100): Promise<IdempotentAnswer> {
    let answer: IdempotentAnswer | undefined;
    void pending.then((answered) => (answer = answered));
    await eventually('the answer has arrived', () => {
      clock.advance(stepMs);
      return answer !== undefined;
    });
    return answer!;
  }

  it('is processed by the first; the second waits for it, however long it takes', async () => {
    const job = work();
    const answering = first.answer(request(), job.run);
    const ids = await job.ids;
    const waiting = second.answer(request(), never);
    // This takes many leases, each renewed by the first.
    for (let n = 0; n < 30; n += 1) {
      clock.advance(LEASE_MS / 3);
      await eventually('the lease is renewed', async () => {
        const row = await unitOfWork.reader
          .selectFrom('idempotency_keys')
          .select('lease_until')
          .executeTakeFirstOrThrow();
        return row.lease_until === clock.now() + LEASE_MS;
      });
    }
    job.end({ done: true });
    expect(await answering).toMatchObject({ content: '{"done":true}', replayed: false });
    expect(await answerOf(waiting)).toMatchObject({ content: '{"done":true}', replayed: true, mismatch: false, ids });
  });

  it('passes to the second, with the same ids, when the lease of the first has expired', async () => {
    const lost = work();
    void first.answer(request(), lost.run);
    const ids = await lost.ids;
    // The first process is gone: its renewals no longer reach the database.
    await unitOfWork.run((tx) => tx.db.updateTable('idempotency_keys').set({ owner: 'gone' }).execute());

    const job = work();
    const taking = second.answer(request('another body'), job.run);
    let taken = false;
    void job.ids.then(() => (taken = true));
    await eventually('the lease has run out', () => {
      clock.advance(LEASE_MS / 10);
      return taken;
    });
    expect(await job.ids).toEqual(ids);
    job.end({ done: true });
    // The first body had no result, so the answer is for this one.
    expect(await taking).toMatchObject({ replayed: false, mismatch: false, ids });
  });

  it('passes to the second when the work of the first has failed', async () => {
    const job = work();
    const failing = first.answer(request(), job.run);
    await job.ids;
    const next = work();
    const waiting = second.answer(request(), next.run);
    job.fail(new Error('no'));
    await expect(failing).rejects.toThrow('no');
    next.end({ done: true });
    expect(await answerOf(waiting)).toMatchObject({ content: '{"done":true}', replayed: false });
  });

  it.each<['first' | 'second']>([['first'], ['second']])(
    'does not keep a large body that waits in the %s process; its client sends it again if the work has failed',
    async (process) => {
      const services = { first, second };
      const job = work();
      const failing = first.answer(request(), job.run);
      await job.ids;
      let isHeld = true;
      const large = { ...request(), heldBytes: 300_000, releaseBody: () => (isHeld = false) };
      const refused = services[process].answer(large, never).catch((error: unknown) => error);
      await eventually('its body is gone', () => {
        clock.advance(100);
        return !isHeld;
      });
      job.fail(new Error('no'));
      await expect(failing).rejects.toThrow('no');
      let error: unknown;
      void refused.then((refusal) => (error = refusal));
      await eventually('it is refused', () => {
        clock.advance(100);
        return error !== undefined;
      });
      expect(error).toMatchObject({
        code: 'unavailable',
        message:
          'The first request with this idempotency key has failed, and this one was too large to keep; send it again',
      });
      // The key is free, on either side.
      const again = work();
      again.end({ done: true });
      expect(
        await services[process === 'first' ? 'second' : 'first'].answer(
          { ...request(), heldBytes: 300_000 },
          again.run,
        ),
      ).toMatchObject({ content: '{"done":true}', replayed: false });
    },
  );

  it('keeps its ids if the artifact was stored before the failure, so that nothing is done twice', async () => {
    const job = work();
    const failing = first.answer(request('first body'), job.run);
    const ids = await job.ids;
    await publish(ids);
    job.fail(new Error('after the publish'));
    await expect(failing).rejects.toThrow('after the publish');

    const again = work();
    const taking = second.answer(request('another body'), again.run);
    again.end({ done: true });
    // The answer is the result of the first body.
    expect(await answerOf(taking)).toMatchObject({ ids, replayed: false, mismatch: true });
    expect(await first.answer(request('first body'), never)).toMatchObject({ ids, replayed: true, mismatch: false });
  });

  const publish = (ids: RequestIds): Promise<unknown> =>
    unitOfWork.run((tx) =>
      tx.db
        .insertInto('artifacts')
        .values({
          id: ids.madeId,
          type: 'Note',
          version: 1,
          payload: '{}',
          produced_by: 'external',
          visibility: '{"kind":"Public"}',
          visibility_kind: 'Public',
          tags: '[]',
          correlation_id: ids.correlationId,
          created_at: clock.now(),
        })
        .execute(),
    );
});
