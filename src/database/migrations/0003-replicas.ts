import { type Kysely, sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/** Tables with which several processes on one database know each other. */
export const replicas: NumberedMigration = {
  name: '0003-replicas',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await createWorkers(db);
    // Counts the running executions of an agent over all processes: with numbered claims the count need not scan ended
    // ones.
    await db.schema.alterTable('executions').addColumn('claim', 'bigint').execute();
    if (dialect.name === 'postgres') await sql`create sequence execution_claims`.execute(db);
    // The only index on running executions: to Postgres' planner two would look alike, and it would use the one that
    // scans everything that has ended.
    await db.schema.dropIndex('executions_running').execute();
    await db.schema
      .createIndex('executions_running_by_agent')
      .on('executions')
      .columns(['agent', 'claim'])
      .where(sql<boolean>`state = 'running'`)
      .execute();
    for (const table of [
      'executions',
      'correlations',
      'activity',
      'timers',
      'join_groups',
      'join_arrivals',
      'runs',
      'batches',
      'batch_rows',
    ] as const) {
      await dialect.prepareForChurn(db, table);
    }
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
