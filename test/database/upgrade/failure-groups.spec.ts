import { Kysely } from 'kysely';

import { failureGroupOf } from '../../../src/common/failure-group.js';
import { MIGRATIONS } from '../../../src/database/migrations/migrate.js';
import type { NumberedMigration } from '../../../src/database/migrations/migration.js';
import type { Schema } from '../../../src/database/schema.js';
import { ConfigurationFolder } from '../../support/configuration-folder.js';
import { emptyDatabaseOf } from '../../support/database.js';
import { migrateAt } from './migrate-at.js';

const NAME = '0004-failure-groups';
const FAILED = 2_300;

/** Puts executions into the schema before the migration. */
const executions: NumberedMigration = {
  name: '0003-zz-executions',
  oldestProgram: '0.1.0',
  up: async (db) => {
    const rows = Array.from({ length: FAILED + 2 }, (_, index) => executionAt(index));
    for (let start = 0; start < rows.length; start += 100)
      await (db as Kysely<Schema>)
        .insertInto('executions')
        .values(rows.slice(start, start + 100) as never)
        .execute();
  },
};

function executionAt(index: number) {
  const state = index < FAILED ? 'failed' : index === FAILED ? 'completed' : 'pending';
  const failed = state === 'failed';
  return {
    id: `execution-${index}`,
    agent: index % 2 === 0 ? 'even' : 'odd',
    subscription: 0,
    correlation_id: 'order',
    generation: 1,
    state,
    direct: 0,
    batch: 0,
    priority: 0,
    attempt: 1,
    lost_leases: 0,
    created_at: 1_000,
    ended_at: state === 'pending' ? null : 2_000 + index,
    error_type: failed ? 'Error' : null,
    error_message: failed ? `no parcel ${index}` : null,
  };
}

/** Uses a real database. */
it('the migration groups the executions that have failed before', async () => {
  const folder = new ConfigurationFolder();
  const database = await emptyDatabaseOf(folder.path);
  try {
    const before = MIGRATIONS.filter(({ name }) => name < NAME);
    await migrateAt(database.url, [...before, executions]);
    await migrateAt(database.url, [...before, executions, ...MIGRATIONS.filter(({ name }) => name >= NAME)]);
    const message = 'no parcel <number>';
    const groupOf = (agent: string) => failureGroupOf(agent, 'Error', 'no parcel 1').id;
    const common = { error_type: 'Error', message, count: FAILED / 2 };
    const groups = await database.rows<object>('select * from failure_groups order by first_at');
    expect(groups.map((row) => JSON.parse(JSON.stringify(row)) as unknown)).toEqual([
      { ...common, id: groupOf('even'), agent: 'even', first_at: 2_000, last_at: 2_000 + FAILED - 2 },
      { ...common, id: groupOf('odd'), agent: 'odd', first_at: 2_001, last_at: 2_000 + FAILED - 1 },
    ]);
    const grouped = await database.rows<object>(
      `select state, agent, failure_group, count(*) as count from executions group by state, agent, failure_group order by state desc, agent`,
    );
    expect(grouped.map((row) => Object.values(row))).toEqual([
      ['pending', 'odd', null, 1],
      ['failed', 'even', groupOf('even'), FAILED / 2],
      ['failed', 'odd', groupOf('odd'), FAILED / 2],
      ['completed', 'even', null, 1],
    ]);
  } finally {
    await database.drop();
    folder.remove();
  }
});
