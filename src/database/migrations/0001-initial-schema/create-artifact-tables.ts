import { type Kysely, sql } from 'kysely';

import type { Dialect } from '../../dialects/dialect.js';
import { fromZero, positionedTable, prepareForChurn, primaryKey, required } from '../table-parts.js';

export async function createArtifactTables(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await createArtifacts(db, dialect);
  await createTags(db, dialect);
  await createCounts(db);
  await createCorrelations(db, dialect);
}

async function createArtifacts(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await positionedTable(db, dialect, 'artifacts')
    .addColumn('id', 'text', required)
    .addColumn('type', 'text', required)
    .addColumn('version', 'integer', required)
    .addColumn('produced_by', 'text', required)
    .addColumn('visibility', 'text', required)
    .addColumn('visibility_kind', 'text', required)
    .addColumn('tags', 'text', required)
    .addColumn('partition_key', 'text')
    .addColumn('correlation_id', 'text', required)
    .addColumn('execution_id', 'text')
    .addColumn('created_at', 'bigint', required)
    // The last column, so that SQLite reads the others of a large artifact without its overflow pages.
    .addColumn('payload', 'text', required)
    .execute();
  await db.schema.createIndex('artifacts_by_id').on('artifacts').column('id').unique().execute();
  await db.schema.createIndex('artifacts_by_type').on('artifacts').columns(['type', 'seq']).execute();
  await db.schema.createIndex('artifacts_by_producer').on('artifacts').columns(['produced_by', 'seq']).execute();
  await db.schema.createIndex('artifacts_by_visibility').on('artifacts').columns(['visibility_kind', 'seq']).execute();
  await db.schema.createIndex('artifacts_by_correlation').on('artifacts').columns(['correlation_id', 'seq']).execute();
  await db.schema.createIndex('artifacts_by_created').on('artifacts').columns(['created_at', 'seq']).execute();
  await db.schema
    .createIndex('artifacts_by_execution')
    .on('artifacts')
    .column('execution_id')
    .where(sql<boolean>`execution_id is not null`)
    .execute();
  // The oldest artifacts of each kind in `artifact_counts`, to find what is due and which is then the earliest.
  await db.schema
    .createIndex('artifacts_by_age')
    .on('artifacts')
    .columns(['type', 'produced_by', 'visibility_kind', 'created_at', 'seq'])
    .execute();
  await prepareForChurn(db, dialect, 'artifacts');
}

async function createTags(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('artifact_tags')
    .addColumn('tag', 'text', required)
    .addColumn('artifact_seq', 'bigint', required)
    .addPrimaryKeyConstraint('artifact_tags_pk', ['tag', 'artifact_seq'])
    .execute();
  await db.schema.createIndex('artifact_tags_by_artifact').on('artifact_tags').column('artifact_seq').execute();
  await prepareForChurn(db, dialect, 'artifact_tags');
}

async function createCounts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('artifact_counts')
    .addColumn('type', 'text', required)
    .addColumn('produced_by', 'text', required)
    .addColumn('visibility_kind', 'text', required)
    .addColumn('count', 'bigint', required)
    .addColumn('earliest_created_at', 'bigint', required)
    .addColumn('latest_created_at', 'bigint', required)
    .addPrimaryKeyConstraint('artifact_counts_pk', ['type', 'produced_by', 'visibility_kind'])
    .execute();
  await db.schema
    .createTable('artifact_deletions')
    .addColumn('type', 'text', primaryKey)
    .addColumn('up_to_seq', 'bigint', required)
    .addColumn('count', 'bigint', required)
    .execute();
  await db.schema
    .createTable('rollups')
    .addColumn('name', 'text', primaryKey)
    .addColumn('up_to_seq', 'bigint', required)
    .execute();
}

async function createCorrelations(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('correlations')
    .addColumn('id', 'text', primaryKey)
    .addColumn('state', 'text', required)
    .addColumn('closed', 'integer', required)
    .addColumn('background', 'integer', fromZero)
    .addColumn('generation', 'integer', required)
    .addColumn('pending', 'integer', required)
    .addColumn('artifact_count', 'bigint', required)
    .addColumn('error_count', 'bigint', required)
    .addColumn('deleted_artifacts', 'bigint', fromZero)
    .addColumn('deleted_errors', 'bigint', fromZero)
    .addColumn('output_count', 'bigint', required)
    .addColumn('generation_executions', 'bigint', required)
    .addColumn('limited_agents', 'text', required)
    .addColumn('deadline_at', 'bigint')
    // In the row that every publish locks anyway, so that correlations without targets need no query.
    .addColumn('webhook_targets', 'integer', fromZero)
    .addColumn('traceparent', 'text')
    .addColumn('started_at', 'bigint', required)
    .addColumn('last_activity_at', 'bigint', required)
    .addColumn('settled_at', 'bigint')
    .addColumn('input_tokens', 'bigint', fromZero)
    .addColumn('output_tokens', 'bigint', fromZero)
    .addColumn('cost', 'double precision')
    .execute();
  await prepareForChurn(db, dialect, 'correlations');
}
