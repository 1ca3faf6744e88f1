import { type Kysely, sql } from 'kysely';

import type { Dialect } from '../dialects/dialect.js';
import type { NumberedMigration } from './migration.js';
import { fromZero, positionedTable, required } from './table-parts.js';

/** Operations over many executions. */
export const operations: NumberedMigration = {
  name: '0006-operations',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await createOperations(db, dialect);
    await sql`insert into scheduler_locks (name, due_at) values ('operations', 0)`.execute(db);
  },
};

async function createOperations(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await positionedTable(db, dialect, 'operations')
    .addColumn('id', 'text', required)
    .addColumn('kind', 'text', required)
    .addColumn('filter', 'text', required)
    .addColumn('state', 'text', required)
    .addColumn('matched', 'bigint', required)
    .addColumn('done', 'bigint', fromZero)
    .addColumn('failed', 'bigint', fromZero)
    .addColumn('last_error', 'text')
    .addColumn('position', 'bigint', fromZero)
    .addColumn('up_to_seq', 'bigint', required)
    .addColumn('created_at', 'bigint', required)
    .addColumn('ended_at', 'bigint')
    .execute();
  await db.schema.createIndex('operations_by_id').on('operations').column('id').unique().execute();
  await db.schema
    .createIndex('operations_running')
    .on('operations')
    .column('seq')
    .where(sql<boolean>`state = 'running'`)
    .execute();
}
