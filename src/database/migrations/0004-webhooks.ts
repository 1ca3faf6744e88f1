import { type Kysely, sql } from 'kysely';

import type { Dialect } from '../dialects/dialect.js';
import type { NumberedMigration } from './migration.js';

/** Webhook targets, their deliveries, and the result of each try. */
export const webhooks: NumberedMigration = {
  name: '0004-webhooks',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await createTargets(db);
    await createDeliveries(db, dialect);
    await createAttempts(db, dialect);
    await dialect.prepareForChurn(db, 'deliveries');
  },
};

async function createTargets(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('webhook_targets')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('origin', 'text', (column) => column.notNull())
    .addColumn('by', 'text', (column) => column.notNull())
    .addColumn('secrets', 'text')
    .addColumn('fingerprint', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('correlation_targets')
    .addColumn('correlation_id', 'text', (column) => column.notNull())
    .addColumn('target_id', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('correlation_targets_pk', ['correlation_id', 'target_id'])
    .execute();
  await db.schema.createIndex('correlation_targets_by_target').on('correlation_targets').column('target_id').execute();
  // Stored in the row that every publish locks anyway, so that correlations without targets need no query.
  await db.schema
    .alterTable('correlations')
    .addColumn('webhook_targets', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
}

async function createDeliveries(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('deliveries')
    .addColumn('seq', dialect.positionType, (column) => dialect.position(column))
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('target_id', 'text', (column) => column.notNull())
    .addColumn('queue', 'text', (column) => column.notNull())
    .addColumn('correlation_id', 'text', (column) => column.notNull())
    .addColumn('artifact_seq', 'bigint', (column) => column.notNull())
    .addColumn('artifact_id', 'text', (column) => column.notNull())
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('priority', 'integer', (column) => column.notNull())
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('attempt_started_at', 'bigint')
    .addColumn('available_at', 'bigint')
    .addColumn('lease_token', 'text')
    .addColumn('lease_owner', 'text')
    .addColumn('lease_until', 'bigint')
    .addColumn('claim', 'bigint')
    .addColumn('lost_leases', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('started_at', 'bigint')
    .addColumn('ended_at', 'bigint')
    .addColumn('last_status', 'integer')
    .addColumn('last_error', 'text')
    .execute();
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
  await db.schema
    .createTable('delivery_attempts')
    .addColumn('seq', dialect.positionType, (column) => dialect.position(column))
    .addColumn('delivery_id', 'text', (column) => column.notNull())
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('duration_ms', 'bigint', (column) => column.notNull())
    .addColumn('status', 'integer')
    .addColumn('error', 'text')
    .execute();
  await db.schema
    .createIndex('delivery_attempts_by_delivery')
    .on('delivery_attempts')
    .columns(['delivery_id', 'seq'])
    .execute();
}
