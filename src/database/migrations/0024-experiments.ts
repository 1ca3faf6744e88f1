import { type Kysely, sql } from 'kysely';

import type { Dialect } from '../dialects/dialect.js';
import type { NumberedMigration } from './migration.js';
import { fromZero, positionedTable, prepareForChurn, required } from './table-parts.js';

/** Experiments, the rows of their data sets, and the trials of these rows. */
export const experiments: NumberedMigration = {
  name: '0024-experiments',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await createExperiments(db, dialect);
    await createRows(db);
    await createTrials(db, dialect);
    await sql`insert into scheduler_locks (name, due_at) values ('experiments', 0)`.execute(db);
  },
};

async function createExperiments(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await positionedTable(db, dialect, 'experiments')
    .addColumn('id', 'text', required)
    .addColumn('name', 'text')
    .addColumn('state', 'text', required)
    .addColumn('definition', 'text', required)
    .addColumn('variants', 'integer', required)
    .addColumn('variant_names', 'text', required)
    .addColumn('row_count', 'bigint', fromZero)
    .addColumn('max_workers', 'integer', required)
    .addColumn('max_cost', 'double precision')
    .addColumn('max_tokens', 'bigint')
    .addColumn('next_trial', 'bigint', fromZero)
    .addColumn('open_trials', 'bigint', fromZero)
    .addColumn('ended_trials', 'bigint', fromZero)
    .addColumn('failed_trials', 'bigint', fromZero)
    .addColumn('input_tokens', 'bigint', fromZero)
    .addColumn('output_tokens', 'bigint', fromZero)
    .addColumn('cost', 'double precision')
    .addColumn('summary', 'text')
    .addColumn('error', 'text')
    .addColumn('created_at', 'bigint', required)
    .addColumn('ended_at', 'bigint')
    .execute();
  await db.schema.createIndex('experiments_by_id').on('experiments').column('id').unique().execute();
  await db.schema
    .createIndex('experiments_with_work')
    .on('experiments')
    .column('seq')
    .where(sql<boolean>`state = 'running' or open_trials > 0`)
    .execute();
}

async function createRows(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('experiment_rows')
    .addColumn('experiment_seq', 'bigint', required)
    .addColumn('position', 'bigint', required)
    .addColumn('origin', 'text')
    .addColumn('origin_kind', 'text')
    .addColumn('inputs', 'text')
    .addColumn('expected', 'text')
    .addColumn('problem', 'text')
    .addColumn('input_shown', 'text')
    .addColumn('expected_shown', 'text')
    .addPrimaryKeyConstraint('experiment_rows_pk', ['experiment_seq', 'position'])
    .execute();
}

async function createTrials(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('experiment_trials')
    .addColumn('experiment_seq', 'bigint', required)
    .addColumn('position', 'bigint', required)
    .addColumn('variant', 'integer', required)
    .addColumn('correlation_id', 'text', required)
    .addColumn('state', 'text', required)
    .addColumn('scores', 'text')
    .addColumn('output_id', 'text')
    .addColumn('output_digest', 'text')
    .addColumn('output_shown', 'text')
    .addColumn('error', 'text')
    .addColumn('duration_ms', 'bigint')
    .addColumn('input_tokens', 'bigint', fromZero)
    .addColumn('output_tokens', 'bigint', fromZero)
    .addColumn('cost', 'double precision')
    .addPrimaryKeyConstraint('experiment_trials_pk', ['experiment_seq', 'position', 'variant'])
    .execute();
  await db.schema
    .createIndex('experiment_trials_open')
    .on('experiment_trials')
    .columns(['experiment_seq', 'position', 'variant'])
    .where(sql<boolean>`state <> 'ended'`)
    .execute();
  await prepareForChurn(db, dialect, 'experiment_trials');
}
