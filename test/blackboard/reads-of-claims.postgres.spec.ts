import { sql } from 'kysely';

import { Catalog } from '../../src/catalog/catalog.js';
import { newId } from '../../src/common/ids.js';
import { changeStored } from '../faults/change-stored.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { connected } from '../support/postgres-cluster.js';
import { agent, anyObject, type Core, startCore } from './core.js';

const EXECUTIONS = 2_000;
const AT_ONCE = 40;
const HOUR_MS = 3_600_000;
/** The reads per execution, from the publish to its outcome. */
const MOST_READS = 10;

// The counts are those of Postgres. It has no statistics of tables that were empty a moment ago, and plans as if they
// still were.
describe(`${EXECUTIONS} executions on tables that were empty`, () => {
  let core: Core;
  let executed = 0;
  let begin = (): void => undefined;
  const clock = new ManualClock();

  beforeEach(async () => {
    executed = 0;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const worker = agent('worker', [{ types: ['Order'] }], ['Receipt'], { concurrency: AT_ONCE, timeoutMs: HOUR_MS });
    const run = () => begun.then(() => void (executed += 1));
    core = await startCore(
      new Catalog(['Order', 'Receipt'].map(anyObject), [worker]),
      { worker: { run } },
      { leaseMs: HOUR_MS },
      clock,
    );
  });

  afterEach(() => core.close());

  const publish = () =>
    core.publisher.publish({
      artifactId: newId(),
      correlationId: newId(),
      type: 'Order',
      payload: {},
      tags: [],
      partitionKey: null,
      visibility: { kind: 'Public' },
    });

  async function publishAll(): Promise<void> {
    for (let published = 0; published < EXECUTIONS; published += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, publish));
  }

  async function artifactsRead(): Promise<number> {
    const { rows } = await sql<{ read: number }>`
      select seq_tup_read + idx_tup_fetch as read from pg_stat_user_tables where relname = 'artifacts'`.execute(
      core.unitOfWork.reader,
    );
    return rows[0]!.read;
  }

  async function entriesOfReadyOnesRead(): Promise<number> {
    const { rows } = await sql<{ read: number }>`
      select idx_tup_read as read from pg_stat_user_indexes where indexrelname = 'executions_ready'`.execute(
      core.unitOfWork.reader,
    );
    return rows[0]!.read;
  }

  async function executionsChanged(): Promise<number> {
    const { rows } = await sql<{ changed: number }>`
      select n_tup_upd as changed from pg_stat_user_tables where relname = 'executions'`.execute(
      core.unitOfWork.reader,
    );
    return rows[0]!.changed;
  }

  it('read about as many artifacts as they have inputs', async () => {
    await publishAll();
    begin();
    await eventually('all were executed', () => executed >= EXECUTIONS);
    // A connection reports its counts some seconds after its last transaction.
    await eventually('what was read has been counted', async () => (await artifactsRead()) >= EXECUTIONS - AT_ONCE);
    expect(await artifactsRead()).toBeLessThan(EXECUTIONS * MOST_READS);
  });

  it('do not read executions that wait for a configuration of another process', async () => {
    await publishAll();
    // Without the vacuum, searches would read the index entries of the rows as they were before.
    await changeStored(core.databaseUrl, `update executions set configuration = 'elsewhere'`, 'vacuum executions');
    begin();
    for (let n = 0; n < AT_ONCE; n += 1) {
      await publish();
      await eventually('it was executed', () => executed > n);
    }
    // An execution that starts with its publish reads no entry, but each is changed at its end.
    await eventually('what was read has been counted', async () => (await executionsChanged()) >= EXECUTIONS + AT_ONCE);
    expect(await entriesOfReadyOnesRead()).toBeLessThan(AT_ONCE * MOST_READS);
  });

  it('read already claimed rows only a few times, while a session keeps an old snapshot and more executions wait all the time', async () => {
    await publishAll();
    await connected(core.databaseUrl, async (holder) => {
      await holder.query('begin isolation level repeatable read');
      await holder.query('select count(*) from executions');
      // Any cached state of the queue has to be read once more.
      clock.advance(HOUR_MS / 2);
      begin();
      await eventually('all were executed', () => executed >= EXECUTIONS);
    });
    await eventually('what was read has been counted', async () => (await entriesOfReadyOnesRead()) >= EXECUTIONS);
    expect(await entriesOfReadyOnesRead()).toBeLessThan(EXECUTIONS * MOST_READS);
  });
});
