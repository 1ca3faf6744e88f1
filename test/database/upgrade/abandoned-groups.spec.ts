import { MIGRATIONS } from '../../../src/database/migrations/migrate.js';
import { changeStored } from '../../faults/change-stored.js';
import { ConfigurationFolder } from '../../support/configuration-folder.js';
import { emptyDatabaseOf } from '../../support/database.js';
import { migrateAt } from './migrate-at.js';

const NAME = '0042-abandoned-groups';

const SUBSCRIPTIONS = {
  within: `{"join":["A","B"],"by":null}`,
  'within again': `{"join":["A","B"],"by":null} 2`,
  across: `{"join":["A","B"],"by":"payload.key"}`,
  quoted: `{"join":["A","B"],"by":"[\\",\\", \\"by\\":null}]"}`,
  window: `{"batch":["A"]}`,
};

type Columns = Record<string, string | number>;

const CORRELATIONS: Record<string, Columns> = {
  active: { state: 'active', closed: 0 },
  published: { state: 'completed', closed: 0 },
  run: { state: 'completed', closed: 1 },
  replay: { state: 'completed', closed: 0, origin: 'published' },
  'active replay': { state: 'active', closed: 0, origin: 'published' },
  'failed replay': { state: 'completed', closed: 0, origin: 'published', error_count: 1 },
};

const insert = (table: string, row: Columns): string =>
  `insert into ${table} (${Object.keys(row).join(', ')})
   values (${Object.values(row)
     .map((value) => (typeof value === 'number' ? value : `'${value}'`))
     .join(', ')})`;

/** A group in each of the subscriptions for each of the correlations. */
const GROUPS = Object.keys(SUBSCRIPTIONS).flatMap((subscription, number) =>
  Object.keys(CORRELATIONS).map((correlation) => ({ id: `${correlation} ${subscription}`, number, correlation })),
);

/** Uses a real database. */
it('the migration removes the groups of ended runs and replays that can never complete, and no other ones', async () => {
  const folder = new ConfigurationFolder();
  const database = await emptyDatabaseOf(folder.path);
  try {
    await migrateAt(
      database.url,
      MIGRATIONS.filter(({ name }) => name < NAME),
    );
    const place = (number: number): Columns => ({ agent: 'joiner', subscription: number });
    await changeStored(
      database.url,
      ...Object.entries(CORRELATIONS).map(([id, columns]) =>
        insert('correlations', {
          ...{ id, background: 0, generation: 1, pending: 0, artifact_count: 1, error_count: 0, output_count: 0 },
          ...{ generation_executions: 0, limited_agents: '[]', started_at: 0, last_activity_at: 0 },
          ...columns,
        }),
      ),
      ...Object.values(SUBSCRIPTIONS).map((identity, number) =>
        insert('subscriptions', { agent: 'joiner', number, identity }),
      ),
      ...GROUPS.flatMap(({ id, number, correlation }, seq) => [
        insert('join_groups', {
          ...place(number),
          id,
          key: correlation,
          ordinal: 1,
          state: 'waiting',
          size: 1,
          opened_at: 0,
        }),
        insert('join_arrivals', {
          ...{ ...place(number), artifact_seq: seq, group_id: id, key: correlation, ordinal: 1, position: 0 },
          ...{ type: 'A', correlation_id: correlation, arrived_at: 0 },
        }),
      ]),
    );

    await migrateAt(database.url, MIGRATIONS);
    const kept = GROUPS.map(({ id }) => id)
      .filter((id) => id !== 'run within' && id !== 'run within again' && !id.startsWith('replay '))
      .toSorted();
    const ids = async (column: string, table: string): Promise<string[]> =>
      (await database.rows<{ id: string }>(`select ${column} as id from ${table}`)).map(({ id }) => id).toSorted();
    expect(await ids('id', 'join_groups')).toEqual(kept);
    expect(await ids('group_id', 'join_arrivals')).toEqual(kept);
  } finally {
    await database.drop();
    folder.remove();
  }
});
