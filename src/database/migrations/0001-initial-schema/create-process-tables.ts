import { type Kysely, sql } from 'kysely';

import { primaryKey, required } from '../table-parts.js';

/** The tables of what processes on one database know of each other, and of requests that they have answered. */
export async function createProcessTables(db: Kysely<unknown>): Promise<void> {
  await createProcesses(db);
  await createSchedulerLocks(db);
  await createIdempotencyKeys(db);
}

async function createProcesses(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('processes')
    .addColumn('id', 'text', primaryKey)
    .addColumn('agents', 'text', required)
    .addColumn('subscriptions', 'text', required)
    .addColumn('roles', 'text', required)
    .addColumn('version', 'text', required)
    .addColumn('configuration', 'text', required)
    .addColumn('started_at', 'bigint', required)
    .addColumn('seen_at', 'bigint', required)
    .addColumn('seen_until', 'bigint', required)
    .execute();
}

async function createSchedulerLocks(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('scheduler_locks')
    .addColumn('name', 'text', primaryKey)
    .addColumn('due_at', 'bigint', required)
    .execute();
  await sql`insert into scheduler_locks (name, due_at) values ('retention', 0)`.execute(db);
}

async function createIdempotencyKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('idempotency_keys')
    .addColumn('endpoint', 'text', required)
    .addColumn('key', 'text', required)
    .addColumn('request_hash', 'text', required)
    .addColumn('ids', 'text', required)
    .addColumn('owner', 'text', required)
    .addColumn('lease_until', 'bigint', required)
    .addColumn('response', 'text')
    .addColumn('pieces', 'text')
    .addColumn('expires_at', 'bigint', required)
    .addPrimaryKeyConstraint('idempotency_keys_pk', ['endpoint', 'key'])
    .execute();
  await db.schema.createIndex('idempotency_keys_by_expiry').on('idempotency_keys').column('expires_at').execute();
}
