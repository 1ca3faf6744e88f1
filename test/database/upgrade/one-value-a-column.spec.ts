import { MIGRATIONS } from '../../../src/database/migrations/migrate.js';
import { changeStored } from '../../faults/change-stored.js';
import { ConfigurationFolder } from '../../support/configuration-folder.js';
import { emptyDatabaseOf } from '../../support/database.js';
import { migrateAt } from './migrate-at.js';

const NAME = '0015-one-value-a-column';

const execution = (id: string, priority: number, endedLease: string | null = null): string =>
  `insert into executions (id, agent, subscription, correlation_id, generation, state, direct, batch, priority, attempt, lost_leases, created_at, ended_lease)
   values ('${id}', 'agent', 0, 'order', 1, 'pending', 0, 0, ${priority}, 1, 0, 0, ${endedLease === null ? 'null' : `'${endedLease}'`})`;

const delivery = (id: string, priority: number): string =>
  `insert into deliveries (id, target_id, queue, correlation_id, artifact_seq, artifact_id, sequence, state, priority, attempt, lost_leases, created_at)
   values ('${id}', 'target', 'queue', 'order', 1, '1', 1, 'pending', ${priority}, 1, 0, 0)`;

const timer = (kind: string, subject: string): string =>
  `insert into timers (id, kind, due_at, subject) values ('${kind} ${subject}', '${kind}', 1, '${subject}')`;

/** An earlier schema stored twice the priority, minus one for background work. */
const EXECUTIONS: Record<string, [stored: number, priority: number, background: number]> = {
  high: [2_000, 1_000, 0],
  'high background': [1_999, 1_000, 1],
  one: [2, 1, 0],
  'one background': [1, 1, 1],
  none: [0, 0, 0],
  'none background': [-1, 0, 1],
  'minus one': [-2, -1, 0],
  'minus one background': [-3, -1, 1],
};

/** Uses a real database. */
it('the migration moves values that shared a column', async () => {
  const folder = new ConfigurationFolder();
  const database = await emptyDatabaseOf(folder.path);
  const rows = async (query: string): Promise<unknown[][]> =>
    (await database.rows<object>(query)).map((row) => Object.values(row));
  try {
    await migrateAt(
      database.url,
      MIGRATIONS.filter(({ name }) => name < NAME),
    );
    const order = 'select id from executions order by priority desc, seq';
    await changeStored(
      database.url,
      ...Object.entries(EXECUTIONS).map(([id, [stored]]) => execution(id, stored)),
      execution('released', 0, 'released token'),
      execution('ended', 0, 'token'),
      delivery('foreground', 0),
      delivery('background', -1),
      timer('deadline', '12 order 1'),
      timer('due', '12 order 1'),
    );
    const before = await rows(order);

    await migrateAt(database.url, MIGRATIONS);
    expect(await rows(order.replace('desc,', 'desc, background,'))).toEqual(before);
    expect(await rows(`select id, priority, background from executions where id not like '%ed' order by seq`)).toEqual(
      Object.entries(EXECUTIONS).map(([id, [, ...moved]]) => [id, ...moved]),
    );
    expect(
      await rows(`select id, ended_lease, released_lease from executions where id like '%ed' order by seq`),
    ).toEqual([
      ['released', null, 'token'],
      ['ended', 'token', null],
    ]);
    expect(await rows('select id, priority, background from deliveries order by seq')).toEqual([
      ['foreground', 0, 0],
      ['background', 0, 1],
    ]);
    expect(await rows('select kind, subject from timers order by kind')).toEqual([
      ['deadline', 'order 1'],
      ['due', '12 order 1'],
    ]);
  } finally {
    await database.drop();
    folder.remove();
  }
});
