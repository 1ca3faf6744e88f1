import { type Kysely, sql } from 'kysely';
import type { NumberedMigration } from './migration.js';

/** What several processes on one database have to know of each other. */
export const replicas: NumberedMigration = {
  name: '0003-replicas',
  oldestProgram: '0.1.0',
  async up(db) {
    await createWorkers(db);
    // How many of an agent run, on all of them.
    await db.schema
      .createIndex('executions_running_by_agent')
      .on('executions')
      .column('agent')
      .where(sql<boolean>`state = 'running'`)
      .execute();
  },
};

async function createWorkers(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('workers')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('agents', 'text', (column) => column.notNull())
    .addColumn('seen_until', 'bigint', (column) => column.notNull())
    .execute();
}
