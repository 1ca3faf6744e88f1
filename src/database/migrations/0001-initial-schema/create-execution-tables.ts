import { type Kysely, sql } from 'kysely';

import type { Dialect } from '../../dialects/dialect.js';
import {
  createClaimNumbers,
  fromZero,
  positionedTable,
  prepareForChurn,
  primaryKey,
  required,
} from '../table-parts.js';

export async function createExecutionTables(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await createExecutions(db, dialect);
  await createClaimNumbers(db, dialect);
  await indexClaims(db);
  await indexLists(db);
  await createInputs(db, dialect);
  await createConsumptions(db, dialect);
  await createAttempts(db);
  await createPauses(db);
  await createActivity(db, dialect);
}

async function createExecutions(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await positionedTable(db, dialect, 'executions')
    .addColumn('id', 'text', required)
    .addColumn('agent', 'text', required)
    .addColumn('subscription', 'integer', required)
    .addColumn('correlation_id', 'text', required)
    .addColumn('generation', 'integer', required)
    .addColumn('state', 'text', required)
    .addColumn('direct', 'integer', required)
    .addColumn('batch', 'integer', required)
    .addColumn('priority', 'integer', required)
    .addColumn('attempt', 'integer', required)
    .addColumn('round', 'integer', fromZero)
    .addColumn('attempt_started_at', 'bigint')
    .addColumn('available_at', 'bigint')
    .addColumn('lease_token', 'text')
    .addColumn('lease_owner', 'text')
    .addColumn('lease_until', 'bigint')
    .addColumn('assignee', 'text')
    .addColumn('claimed_by', 'text')
    .addColumn('ended_lease', 'text')
    .addColumn('due_at', 'bigint')
    .addColumn('escalated_at', 'bigint')
    .addColumn('claim', 'bigint')
    .addColumn('lost_leases', 'integer', required)
    .addColumn('traceparent', 'text')
    .addColumn('created_at', 'bigint', required)
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
  await prepareForChurn(db, dialect, 'executions');
}

/** The indexes of claims are partial, so that ended executions do not slow down claims. */
async function indexClaims(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('executions_ready')
    .on('executions')
    .columns(['agent', 'priority desc', 'seq'])
    .where(sql<boolean>`state = 'pending' and available_at is null`)
    .execute();
  // Finds the executions that wait for one assignee, however many wait for others.
  await db.schema
    .createIndex('executions_ready_by_assignee')
    .on('executions')
    .columns(['agent', 'assignee', 'priority desc', 'seq'])
    .where(sql<boolean>`state = 'pending' and available_at is null and assignee is not null`)
    .execute();
  // Includes the agent, so that executions of some agents can be counted without reading the table.
  await db.schema
    .createIndex('executions_retrying')
    .on('executions')
    .columns(['available_at', 'agent'])
    .where(sql<boolean>`state = 'pending' and available_at is not null`)
    .execute();
  // Counts the running executions of an agent over all processes: with numbered claims the count need not scan ended
  // ones. It is the only index on running executions: to Postgres' planner two would look alike, and it would use the
  // one that scans everything that has ended.
  await db.schema
    .createIndex('executions_running_by_agent')
    .on('executions')
    .columns(['agent', 'claim'])
    .where(sql<boolean>`state = 'running'`)
    .execute();
}

/**
 * Lists of ended executions, newest first. The others are found with the small indexes of claims: to Postgres' planner,
 * another index on them would look like those, and every change of state would write to it.
 */
async function indexLists(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('executions_ended')
    .on('executions')
    .columns(['state', 'seq'])
    .where(sql<boolean>`ended_at is not null`)
    .execute();
  await db.schema
    .createIndex('executions_ended_by_agent')
    .on('executions')
    .columns(['agent', 'state', 'seq'])
    .where(sql<boolean>`ended_at is not null`)
    .execute();
  // Without a condition on the state, because lists of an assignee include ended executions.
  await db.schema
    .createIndex('executions_by_assignee')
    .on('executions')
    .columns(['assignee', 'seq'])
    .where(sql<boolean>`assignee is not null`)
    .execute();
}

async function createInputs(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('execution_inputs')
    .addColumn('execution_id', 'text', required)
    .addColumn('position', 'integer', required)
    .addColumn('artifact_seq', 'bigint', required)
    .addPrimaryKeyConstraint('execution_inputs_pk', ['execution_id', 'position'])
    .execute();
  // Consumptions exist only for ended executions. Artifacts are appended, so this index only grows at its end.
  await db.schema.createIndex('execution_inputs_by_artifact').on('execution_inputs').column('artifact_seq').execute();
  await prepareForChurn(db, dialect, 'execution_inputs');
}

async function createConsumptions(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('consumptions')
    .addColumn('artifact_seq', 'bigint', required)
    .addColumn('execution_id', 'text', required)
    .addColumn('consumer', 'text', required)
    .addColumn('consumed_at', 'bigint', required)
    .addPrimaryKeyConstraint('consumptions_pk', ['artifact_seq', 'execution_id'])
    .execute();
  await db.schema
    .createIndex('consumptions_by_consumer')
    .on('consumptions')
    .columns(['consumer', 'artifact_seq'])
    .execute();
  await db.schema.createIndex('consumptions_by_execution').on('consumptions').column('execution_id').execute();
  await prepareForChurn(db, dialect, 'consumptions');
}

async function createAttempts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('execution_attempts')
    .addColumn('execution_id', 'text', required)
    .addColumn('round', 'integer', required)
    .addColumn('attempt', 'integer', required)
    .addColumn('started_at', 'bigint')
    .addColumn('ended_at', 'bigint', required)
    .addColumn('error_type', 'text', required)
    .addColumn('error_message', 'text', required)
    .addPrimaryKeyConstraint('execution_attempts_pk', ['execution_id', 'round', 'attempt'])
    .execute();
}

async function createPauses(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('agent_pauses')
    .addColumn('agent', 'text', primaryKey)
    .addColumn('paused_at', 'bigint', required)
    .execute();
}

async function createActivity(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await positionedTable(db, dialect, 'activity')
    .addColumn('agent', 'text', required)
    .addColumn('hour', 'bigint', required)
    .addColumn('executions', 'bigint', required)
    .addColumn('failures', 'bigint', required)
    .addColumn('artifacts_consumed', 'bigint', required)
    .addColumn('artifacts_produced', 'bigint', required)
    .addColumn('input_tokens', 'bigint', fromZero)
    .addColumn('output_tokens', 'bigint', fromZero)
    .addColumn('cost', 'double precision')
    .execute();
  await prepareForChurn(db, dialect, 'activity');
  await db.schema
    .createTable('activity_hours')
    .addColumn('agent', 'text', required)
    .addColumn('hour', 'bigint', required)
    .addColumn('executions', 'bigint', required)
    .addColumn('failures', 'bigint', required)
    .addColumn('artifacts_consumed', 'bigint', required)
    .addColumn('artifacts_produced', 'bigint', required)
    .addColumn('input_tokens', 'bigint', fromZero)
    .addColumn('output_tokens', 'bigint', fromZero)
    .addColumn('cost', 'double precision')
    .addPrimaryKeyConstraint('activity_hours_pk', ['agent', 'hour'])
    .execute();
}
