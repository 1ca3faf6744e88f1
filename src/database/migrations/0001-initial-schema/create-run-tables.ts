import { type Kysely, sql } from 'kysely';

import type { Dialect } from '../../dialects/dialect.js';
import { fromZero, positionedTable, prepareForChurn, required } from '../table-parts.js';

/** Runs and batches of runs. */
export async function createRunTables(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await createRuns(db, dialect);
  await createBatches(db, dialect);
  await createRows(db, dialect);
}

async function createRuns(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await positionedTable(db, dialect, 'runs')
    .addColumn('id', 'text', required)
    .addColumn('agent', 'text', required)
    .addColumn('status', 'text', required)
    .addColumn('execution_id', 'text')
    .addColumn('batch_id', 'text')
    .addColumn('batch_round', 'integer', required)
    .addColumn('batch_items', 'integer', required)
    .addColumn('created_at', 'bigint', required)
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
  // A batch's runs are deleted with it, including those of earlier rounds, which its rows no longer refer to.
  await db.schema
    .createIndex('runs_by_batch')
    .on('runs')
    .columns(['batch_id', 'seq'])
    .where(sql<boolean>`batch_id is not null`)
    .execute();
  await prepareForChurn(db, dialect, 'runs');
}

async function createBatches(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await positionedTable(db, dialect, 'batches')
    .addColumn('id', 'text', required)
    .addColumn('agent', 'text', required)
    .addColumn('status', 'text', required)
    .addColumn('max_workers', 'integer', required)
    .addColumn('total_items', 'bigint', required)
    .addColumn('succeeded_items', 'bigint', required)
    .addColumn('failed_items', 'bigint', required)
    .addColumn('running_runs', 'integer', required)
    .addColumn('next_position', 'bigint', required)
    .addColumn('round', 'integer', required)
    .addColumn('static_inputs', 'text', required)
    .addColumn('stored_bytes', 'bigint', fromZero)
    .addColumn('was_cancelled', 'integer', fromZero)
    .addColumn('error', 'text')
    .addColumn('import_owner', 'text')
    .addColumn('import_until', 'bigint')
    .addColumn('created_at', 'bigint', required)
    .addColumn('started_at', 'bigint')
    .addColumn('ended_at', 'bigint')
    .addColumn('input_tokens', 'bigint', fromZero)
    .addColumn('output_tokens', 'bigint', fromZero)
    .addColumn('cost', 'double precision')
    .execute();
  await db.schema.createIndex('batches_by_id').on('batches').column('id').unique().execute();
  await db.schema.createIndex('batches_by_agent').on('batches').columns(['agent', 'seq']).execute();
  await db.schema.createIndex('batches_by_status').on('batches').columns(['status', 'seq']).execute();
  await db.schema.createIndex('batches_by_created').on('batches').columns(['created_at', 'seq']).execute();
  await prepareForChurn(db, dialect, 'batches');
}

async function createRows(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('batch_rows')
    .addColumn('batch_seq', 'bigint', required)
    .addColumn('position', 'bigint', required)
    .addColumn('inputs', 'text', required)
    .addColumn('problem', 'text')
    .addColumn('repeats', 'bigint')
    .addColumn('copies', 'integer', fromZero)
    .addColumn('run_id', 'text')
    .addPrimaryKeyConstraint('batch_rows_pk', ['batch_seq', 'position'])
    .execute();
  await prepareForChurn(db, dialect, 'batch_rows');
  await db.schema
    .createTable('batch_keys')
    .addColumn('batch_seq', 'bigint', required)
    .addColumn('key', 'text', required)
    .addColumn('position', 'bigint', required)
    .addPrimaryKeyConstraint('batch_keys_pk', ['batch_seq', 'key'])
    .execute();
}
