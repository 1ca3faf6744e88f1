import { type Kysely, sql } from 'kysely';

import type { Dialect } from '../dialects/dialect.js';
import type { NumberedMigration } from './migration.js';

export const runsAndBatches: NumberedMigration = {
  name: '0002-runs-and-batches',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await db.schema
      .alterTable('correlations')
      .addColumn('background', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await createRuns(db, dialect);
    await createBatches(db, dialect);
    // To remove a cancelled correlation's artifacts from waiting groups.
    await db.schema.createIndex('join_arrivals_by_correlation').on('join_arrivals').column('correlation_id').execute();
  },
};

async function createRuns(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('runs')
    .addColumn('seq', dialect.positionType, (column) => dialect.position(column))
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('agent', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('execution_id', 'text')
    .addColumn('batch_id', 'text')
    .addColumn('batch_round', 'integer', (column) => column.notNull())
    .addColumn('batch_items', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('ended_at', 'bigint')
    .addColumn('error', 'text')
    .execute();
  await db.schema.createIndex('runs_by_id').on('runs').column('id').unique().execute();
  await db.schema.createIndex('runs_by_agent').on('runs').columns(['agent', 'seq']).execute();
  await db.schema.createIndex('runs_by_status').on('runs').columns(['status', 'seq']).execute();
  await db.schema.createIndex('runs_by_created').on('runs').columns(['created_at', 'seq']).execute();
  await db.schema
    .createIndex('runs_open_in_batch')
    .on('runs')
    .column('batch_id')
    .where(sql<boolean>`status = 'running' and batch_id is not null`)
    .execute();
}

async function createBatches(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('batches')
    .addColumn('seq', dialect.positionType, (column) => dialect.position(column))
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('agent', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('max_workers', 'integer', (column) => column.notNull())
    .addColumn('total_items', 'bigint', (column) => column.notNull())
    .addColumn('succeeded_items', 'bigint', (column) => column.notNull())
    .addColumn('failed_items', 'bigint', (column) => column.notNull())
    .addColumn('running_runs', 'integer', (column) => column.notNull())
    .addColumn('next_position', 'bigint', (column) => column.notNull())
    .addColumn('round', 'integer', (column) => column.notNull())
    .addColumn('static_inputs', 'text', (column) => column.notNull())
    .addColumn('was_cancelled', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('error', 'text')
    .addColumn('import_owner', 'text')
    .addColumn('import_until', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('started_at', 'bigint')
    .addColumn('ended_at', 'bigint')
    .execute();
  await db.schema.createIndex('batches_by_id').on('batches').column('id').unique().execute();
  await db.schema.createIndex('batches_by_agent').on('batches').columns(['agent', 'seq']).execute();
  await db.schema.createIndex('batches_by_status').on('batches').columns(['status', 'seq']).execute();
  await db.schema.createIndex('batches_by_created').on('batches').columns(['created_at', 'seq']).execute();

  await db.schema
    .createTable('batch_rows')
    .addColumn('batch_seq', 'bigint', (column) => column.notNull())
    .addColumn('position', 'bigint', (column) => column.notNull())
    .addColumn('inputs', 'text', (column) => column.notNull())
    .addColumn('problem', 'text')
    .addColumn('repeats', 'bigint')
    .addColumn('copies', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('run_id', 'text')
    .addPrimaryKeyConstraint('batch_rows_pk', ['batch_seq', 'position'])
    .execute();
  await db.schema
    .createTable('batch_keys')
    .addColumn('batch_seq', 'bigint', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('position', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('batch_keys_pk', ['batch_seq', 'key'])
    .execute();
}
