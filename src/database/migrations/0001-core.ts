import { type Kysely, sql } from 'kysely';

import type { Dialect } from '../dialects/dialect.js';
import type { NumberedMigration } from './migration.js';

export const core: NumberedMigration = {
  name: '0001-core',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await createArtifacts(db, dialect);
    await createCorrelations(db);
    await createExecutions(db, dialect);
    await createWaiting(db);
    await createIdempotencyKeys(db);
  },
};

async function createArtifacts(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('artifacts')
    .addColumn('seq', dialect.positionType, (column) => dialect.position(column))
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('produced_by', 'text', (column) => column.notNull())
    .addColumn('visibility', 'text', (column) => column.notNull())
    .addColumn('visibility_kind', 'text', (column) => column.notNull())
    .addColumn('tags', 'text', (column) => column.notNull())
    .addColumn('partition_key', 'text')
    .addColumn('correlation_id', 'text', (column) => column.notNull())
    .addColumn('execution_id', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    // The last column, so that SQLite reads the others of a large artifact without its overflow pages.
    .addColumn('payload', 'text', (column) => column.notNull())
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
    .where(sql.ref('execution_id'), 'is not', null)
    .execute();

  await db.schema
    .createTable('artifact_tags')
    .addColumn('tag', 'text', (column) => column.notNull())
    .addColumn('artifact_seq', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('artifact_tags_pk', ['tag', 'artifact_seq'])
    .execute();
  await db.schema.createIndex('artifact_tags_by_artifact').on('artifact_tags').column('artifact_seq').execute();

  await db.schema
    .createTable('artifact_counts')
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('produced_by', 'text', (column) => column.notNull())
    .addColumn('visibility_kind', 'text', (column) => column.notNull())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addColumn('earliest_created_at', 'bigint', (column) => column.notNull())
    .addColumn('latest_created_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('artifact_counts_pk', ['type', 'produced_by', 'visibility_kind'])
    .execute();
  await db.schema
    .createTable('rollups')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('up_to_seq', 'bigint', (column) => column.notNull())
    .execute();
}

async function createCorrelations(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('correlations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('closed', 'integer', (column) => column.notNull())
    .addColumn('generation', 'integer', (column) => column.notNull())
    .addColumn('pending', 'integer', (column) => column.notNull())
    .addColumn('artifact_count', 'bigint', (column) => column.notNull())
    .addColumn('error_count', 'bigint', (column) => column.notNull())
    .addColumn('output_count', 'bigint', (column) => column.notNull())
    .addColumn('generation_executions', 'bigint', (column) => column.notNull())
    .addColumn('limited_agents', 'text', (column) => column.notNull())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('last_activity_at', 'bigint', (column) => column.notNull())
    .addColumn('settled_at', 'bigint')
    .execute();
}

async function createExecutions(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('executions')
    .addColumn('seq', dialect.positionType, (column) => dialect.position(column))
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('agent', 'text', (column) => column.notNull())
    .addColumn('correlation_id', 'text', (column) => column.notNull())
    .addColumn('generation', 'integer', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('direct', 'integer', (column) => column.notNull())
    .addColumn('batch', 'integer', (column) => column.notNull())
    .addColumn('priority', 'integer', (column) => column.notNull())
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('available_at', 'bigint')
    .addColumn('lease_token', 'text')
    .addColumn('lease_owner', 'text')
    .addColumn('lease_until', 'bigint')
    .addColumn('lost_leases', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('started_at', 'bigint')
    .addColumn('ended_at', 'bigint')
    .addColumn('error_type', 'text')
    .addColumn('error_message', 'text')
    .execute();
  await db.schema.createIndex('executions_by_id').on('executions').column('id').unique().execute();
  await db.schema
    .createIndex('executions_by_correlation')
    .on('executions')
    .columns(['correlation_id', 'agent'])
    .execute();
  // Partial, so that ended executions do not slow down claims.
  await db.schema
    .createIndex('executions_ready')
    .on('executions')
    .columns(['agent', 'priority desc', 'seq'])
    .where(sql<boolean>`state = 'pending' and available_at is null`)
    .execute();
  await db.schema
    .createIndex('executions_retrying')
    .on('executions')
    .column('available_at')
    .where(sql<boolean>`state = 'pending' and available_at is not null`)
    .execute();
  await db.schema
    .createIndex('executions_running')
    .on('executions')
    .column('lease_until')
    .where(sql<boolean>`state = 'running'`)
    .execute();

  await db.schema
    .createTable('execution_inputs')
    .addColumn('execution_id', 'text', (column) => column.notNull())
    .addColumn('position', 'integer', (column) => column.notNull())
    .addColumn('artifact_seq', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('execution_inputs_pk', ['execution_id', 'position'])
    .execute();

  await db.schema
    .createTable('consumptions')
    .addColumn('artifact_seq', 'bigint', (column) => column.notNull())
    .addColumn('execution_id', 'text', (column) => column.notNull())
    .addColumn('consumer', 'text', (column) => column.notNull())
    .addColumn('consumed_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('consumptions_pk', ['artifact_seq', 'execution_id'])
    .execute();
  await db.schema
    .createIndex('consumptions_by_consumer')
    .on('consumptions')
    .columns(['consumer', 'artifact_seq'])
    .execute();
  await db.schema.createIndex('consumptions_by_execution').on('consumptions').column('execution_id').execute();

  const activityColumns = ['executions', 'failures', 'artifacts_consumed', 'artifacts_produced'];
  let activity = db.schema
    .createTable('activity')
    .addColumn('seq', dialect.positionType, (column) => dialect.position(column))
    .addColumn('agent', 'text', (column) => column.notNull())
    .addColumn('hour', 'bigint', (column) => column.notNull());
  let activityHours = db.schema
    .createTable('activity_hours')
    .addColumn('agent', 'text', (column) => column.notNull())
    .addColumn('hour', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('activity_hours_pk', ['agent', 'hour']);
  for (const name of activityColumns) {
    activity = activity.addColumn(name, 'bigint', (column) => column.notNull());
    activityHours = activityHours.addColumn(name, 'bigint', (column) => column.notNull());
  }
  await activity.execute();
  await activityHours.execute();
}

async function createWaiting(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('join_groups')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('agent', 'text', (column) => column.notNull())
    .addColumn('subscription', 'integer', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('ordinal', 'bigint', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('opened_at', 'bigint', (column) => column.notNull())
    .addColumn('closes_at', 'bigint')
    .execute();
  await db.schema
    .createIndex('join_groups_by_key')
    .on('join_groups')
    .columns(['agent', 'subscription', 'key', 'ordinal'])
    .unique()
    .execute();

  await db.schema
    .createTable('join_arrivals')
    .addColumn('agent', 'text', (column) => column.notNull())
    .addColumn('subscription', 'integer', (column) => column.notNull())
    .addColumn('artifact_seq', 'bigint', (column) => column.notNull())
    .addColumn('group_id', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('ordinal', 'bigint', (column) => column.notNull())
    .addColumn('position', 'integer', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('correlation_id', 'text', (column) => column.notNull())
    .addColumn('arrived_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('join_arrivals_pk', ['agent', 'subscription', 'artifact_seq'])
    .execute();
  await db.schema
    .createIndex('join_arrivals_by_key')
    .on('join_arrivals')
    .columns(['agent', 'subscription', 'key', 'type', 'ordinal'])
    .execute();
  await db.schema.createIndex('join_arrivals_by_group').on('join_arrivals').columns(['group_id', 'position']).execute();

  await db.schema
    .createTable('timers')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('timers_by_due').on('timers').columns(['due_at', 'id']).execute();
  await db.schema.createIndex('timers_by_subject').on('timers').columns(['subject', 'kind']).execute();
}

async function createIdempotencyKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('idempotency_keys')
    .addColumn('endpoint', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('request_hash', 'text', (column) => column.notNull())
    .addColumn('ids', 'text', (column) => column.notNull())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('lease_until', 'bigint', (column) => column.notNull())
    .addColumn('response', 'text')
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('idempotency_keys_pk', ['endpoint', 'key'])
    .execute();
  await db.schema.createIndex('idempotency_keys_by_expiry').on('idempotency_keys').column('expires_at').execute();
}
