import { type Kysely, sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/** Deletion of data that has been kept long enough. */
export const retention: NumberedMigration = {
  name: '0006-retention',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await indexArtifacts(db);
    // A batch's runs are deleted with it, including those of earlier rounds, which its rows no longer refer to.
    await db.schema
      .createIndex('runs_by_batch')
      .on('runs')
      .columns(['batch_id', 'seq'])
      .where(sql.ref('batch_id'), 'is not', null)
      .execute();
    await countDeletions(db);
    await createSchedulerLocks(db);
    for (const table of ['artifacts', 'artifact_tags', 'consumptions', 'execution_inputs'] as const) {
      await dialect.prepareForChurn(db, table);
    }
  },
};

/** The oldest artifacts of each kind in `artifact_counts`, to find what is due and which is then the earliest. */
async function indexArtifacts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('artifacts_by_age')
    .on('artifacts')
    .columns(['type', 'produced_by', 'visibility_kind', 'created_at', 'seq'])
    .execute();
}

async function countDeletions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('artifact_deletions')
    .addColumn('type', 'text', (column) => column.primaryKey())
    .addColumn('up_to_seq', 'bigint', (column) => column.notNull())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .execute();
  for (const name of ['deleted_artifacts', 'deleted_errors']) {
    await db.schema
      .alterTable('correlations')
      .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
  }
}

async function createSchedulerLocks(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('scheduler_locks')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .execute();
  await sql`insert into scheduler_locks (name, due_at) values ('retention', 0)`.execute(db);
}
