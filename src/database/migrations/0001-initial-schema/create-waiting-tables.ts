import type { Kysely } from 'kysely';

import type { Dialect } from '../../dialects/dialect.js';
import { fromZero, prepareForChurn, primaryKey, required } from '../table-parts.js';

/** Joins, batch windows and timers. */
export async function createWaitingTables(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await createSubscriptions(db);
  await createGroups(db, dialect);
  await createArrivals(db, dialect);
  await createTimers(db, dialect);
}

async function createSubscriptions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('subscriptions')
    .addColumn('agent', 'text', required)
    .addColumn('number', 'integer', required)
    .addColumn('identity', 'text', required)
    .addPrimaryKeyConstraint('subscriptions_pk', ['agent', 'number'])
    .execute();
  await db.schema
    .createIndex('subscriptions_by_identity')
    .on('subscriptions')
    .columns(['agent', 'identity'])
    .unique()
    .execute();
}

async function createGroups(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('join_groups')
    .addColumn('id', 'text', primaryKey)
    .addColumn('agent', 'text', required)
    .addColumn('subscription', 'integer', required)
    .addColumn('key', 'text', required)
    .addColumn('ordinal', 'bigint', required)
    .addColumn('state', 'text', required)
    .addColumn('size', 'integer', required)
    .addColumn('opened_at', 'bigint', required)
    .addColumn('closes_at', 'bigint')
    .execute();
  await db.schema
    .createIndex('join_groups_by_key')
    .on('join_groups')
    .columns(['agent', 'subscription', 'key', 'ordinal'])
    .unique()
    .execute();
  await prepareForChurn(db, dialect, 'join_groups');
}

async function createArrivals(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('join_arrivals')
    .addColumn('agent', 'text', required)
    .addColumn('subscription', 'integer', required)
    .addColumn('artifact_seq', 'bigint', required)
    .addColumn('group_id', 'text', required)
    .addColumn('key', 'text', required)
    .addColumn('ordinal', 'bigint', required)
    .addColumn('position', 'integer', required)
    .addColumn('type', 'text', required)
    .addColumn('correlation_id', 'text', required)
    .addColumn('arrived_at', 'bigint', required)
    .addPrimaryKeyConstraint('join_arrivals_pk', ['agent', 'subscription', 'artifact_seq'])
    .execute();
  await db.schema
    .createIndex('join_arrivals_by_key')
    .on('join_arrivals')
    .columns(['agent', 'subscription', 'key', 'type', 'ordinal'])
    .execute();
  await db.schema.createIndex('join_arrivals_by_group').on('join_arrivals').columns(['group_id', 'position']).execute();
  // To remove a cancelled correlation's artifacts from waiting groups. Thousands of one correlation may wait, so it also
  // finds one of them by its position.
  await db.schema
    .createIndex('join_arrivals_by_correlation')
    .on('join_arrivals')
    .columns(['correlation_id', 'artifact_seq'])
    .execute();
  await prepareForChurn(db, dialect, 'join_arrivals');
}

async function createTimers(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('timers')
    .addColumn('id', 'text', primaryKey)
    .addColumn('kind', 'text', required)
    .addColumn('due_at', 'bigint', required)
    .addColumn('subject', 'text', required)
    .addColumn('failures', 'integer', fromZero)
    .addColumn('was_due_at', 'bigint')
    .execute();
  await db.schema.createIndex('timers_by_due').on('timers').columns(['due_at', 'id']).execute();
  await db.schema.createIndex('timers_by_subject').on('timers').columns(['subject', 'kind']).execute();
  await prepareForChurn(db, dialect, 'timers');
}
