import { type Kysely, sql } from 'kysely';

import type { Dialect } from '../../dialects/dialect.js';
import { positionedTable, prepareForChurn, primaryKey, required } from '../table-parts.js';

/** Webhook targets, their deliveries, and the result of each try. */
export async function createWebhookTables(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await createTargets(db);
  await createDeliveries(db, dialect);
  await indexDeliveries(db);
  await createAttempts(db, dialect);
}

async function createTargets(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('webhook_targets')
    .addColumn('id', 'text', primaryKey)
    .addColumn('url', 'text', required)
    .addColumn('origin', 'text', required)
    .addColumn('by', 'text', required)
    .addColumn('secrets', 'text')
    .addColumn('fingerprint', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', 'bigint', required)
    .addColumn('failing_since', 'bigint')
    .execute();
  await db.schema
    .createTable('correlation_targets')
    .addColumn('correlation_id', 'text', required)
    .addColumn('target_id', 'text', required)
    .addPrimaryKeyConstraint('correlation_targets_pk', ['correlation_id', 'target_id'])
    .execute();
  await db.schema.createIndex('correlation_targets_by_target').on('correlation_targets').column('target_id').execute();
}

async function createDeliveries(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await positionedTable(db, dialect, 'deliveries')
    .addColumn('id', 'text', required)
    .addColumn('target_id', 'text', required)
    .addColumn('queue', 'text', required)
    .addColumn('correlation_id', 'text', required)
    .addColumn('artifact_seq', 'bigint', required)
    .addColumn('artifact_id', 'text', required)
    .addColumn('sequence', 'bigint', required)
    .addColumn('state', 'text', required)
    .addColumn('priority', 'integer', required)
    .addColumn('attempt', 'integer', required)
    .addColumn('attempt_started_at', 'bigint')
    .addColumn('available_at', 'bigint')
    .addColumn('lease_token', 'text')
    .addColumn('lease_owner', 'text')
    .addColumn('lease_until', 'bigint')
    .addColumn('claim', 'bigint')
    .addColumn('lost_leases', 'integer', required)
    .addColumn('traceparent', 'text')
    .addColumn('created_at', 'bigint', required)
    .addColumn('started_at', 'bigint')
    .addColumn('ended_at', 'bigint')
    .addColumn('last_status', 'integer')
    .addColumn('last_error', 'text')
    .execute();
  await prepareForChurn(db, dialect, 'deliveries');
}

async function indexDeliveries(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex('deliveries_by_id').on('deliveries').column('id').unique().execute();
  await db.schema.createIndex('deliveries_by_state').on('deliveries').columns(['state', 'seq']).execute();
  await db.schema.createIndex('deliveries_by_target').on('deliveries').columns(['target_id', 'seq']).execute();
  await db.schema
    .createIndex('deliveries_by_correlation')
    .on('deliveries')
    .columns(['correlation_id', 'seq'])
    .execute();
  await db.schema.createIndex('deliveries_by_artifact').on('deliveries').columns(['artifact_id', 'seq']).execute();
  // On `ended_at`, because SQLite uses a partial index only for queries that repeat its condition.
  await db.schema
    .createIndex('deliveries_open_in_group')
    .on('deliveries')
    .columns(['correlation_id', 'target_id', 'seq'])
    .where(sql<boolean>`ended_at is null`)
    .execute();
  // The indexes of claims are partial, so that ended deliveries do not slow down claims.
  await db.schema
    .createIndex('deliveries_ready')
    .on('deliveries')
    .columns(['queue', 'priority desc', 'seq'])
    .where(sql<boolean>`state = 'pending' and available_at is null`)
    .execute();
  await db.schema
    .createIndex('deliveries_retrying')
    .on('deliveries')
    .column('available_at')
    .where(sql<boolean>`state = 'pending' and available_at is not null`)
    .execute();
  await db.schema
    .createIndex('deliveries_running_by_queue')
    .on('deliveries')
    .columns(['queue', 'claim'])
    .where(sql<boolean>`state = 'running'`)
    .execute();
}

async function createAttempts(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await positionedTable(db, dialect, 'delivery_attempts')
    .addColumn('delivery_id', 'text', required)
    .addColumn('attempt', 'integer', required)
    .addColumn('started_at', 'bigint', required)
    .addColumn('duration_ms', 'bigint', required)
    .addColumn('status', 'integer')
    .addColumn('error', 'text')
    .execute();
  await db.schema
    .createIndex('delivery_attempts_by_delivery')
    .on('delivery_attempts')
    .columns(['delivery_id', 'seq'])
    .execute();
}
