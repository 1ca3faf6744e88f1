import type { Kysely } from 'kysely';

import type { Dialect } from '../../dialects/dialect.js';
import { positionedTable, primaryKey, required } from '../table-parts.js';

/** The tables of what the models of agents used, may use and called. */
export async function createUsageTables(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await createUsage(db, dialect);
  await createReservations(db);
  await createToolCalls(db, dialect);
}

async function createUsage(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await positionedTable(db, dialect, 'usage')
    .addColumn('execution_id', 'text', required)
    .addColumn('attempt', 'integer', required)
    .addColumn('lease_token', 'text', required)
    .addColumn('agent', 'text', required)
    .addColumn('correlation_id', 'text', required)
    .addColumn('model', 'text', required)
    .addColumn('input_tokens', 'bigint', required)
    .addColumn('output_tokens', 'bigint', required)
    .addColumn('cost', 'double precision')
    .addColumn('latency_ms', 'bigint', required)
    .addColumn('at', 'bigint', required)
    .execute();
  await db.schema.createIndex('usage_by_execution').on('usage').column('execution_id').execute();
  await db.schema.createIndex('usage_by_agent').on('usage').columns(['correlation_id', 'agent']).execute();
  await db.schema
    .createTable('deleted_usage')
    .addColumn('correlation_id', 'text', required)
    .addColumn('agent', 'text', required)
    .addColumn('tokens', 'bigint', required)
    .addColumn('cost', 'double precision', required)
    .addPrimaryKeyConstraint('deleted_usage_pk', ['correlation_id', 'agent'])
    .execute();
}

async function createReservations(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('budget_reservations')
    .addColumn('execution_id', 'text', primaryKey)
    .addColumn('lease_token', 'text', required)
    .addColumn('correlation_id', 'text', required)
    .addColumn('agent', 'text', required)
    .addColumn('tokens', 'bigint', required)
    .addColumn('input_tokens', 'bigint', required)
    .addColumn('model', 'text', required)
    .addColumn('cost', 'double precision', required)
    .addColumn('waits', 'integer', required)
    .execute();
  await db.schema
    .createIndex('budget_reservations_by_correlation')
    .on('budget_reservations')
    .column('correlation_id')
    .execute();
}

async function createToolCalls(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await positionedTable(db, dialect, 'tool_calls')
    .addColumn('execution_id', 'text', required)
    .addColumn('attempt', 'integer', required)
    .addColumn('lease_token', 'text', required)
    .addColumn('server', 'text', required)
    .addColumn('tool', 'text', required)
    .addColumn('outcome', 'text', required)
    .addColumn('at', 'bigint', required)
    .addColumn('duration_ms', 'bigint')
    .addColumn('result_bytes', 'bigint', required)
    .execute();
  await db.schema.createIndex('tool_calls_by_execution').on('tool_calls').columns(['execution_id', 'seq']).execute();
}
