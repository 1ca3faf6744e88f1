import { type Kysely, sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/** Lists of executions and attempts, retries by hand, paused agents and deadlines. */
export const takingPart: NumberedMigration = {
  name: '0005-taking-part',
  oldestProgram: '0.1.0',
  async up(db) {
    await createAttempts(db);
    await createPauses(db);
    await createListIndexes(db);
    await db.schema.alterTable('correlations').addColumn('deadline_at', 'bigint').execute();
  },
};

async function createAttempts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('execution_attempts')
    .addColumn('execution_id', 'text', (column) => column.notNull())
    .addColumn('round', 'integer', (column) => column.notNull())
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('started_at', 'bigint')
    .addColumn('ended_at', 'bigint', (column) => column.notNull())
    .addColumn('error_type', 'text', (column) => column.notNull())
    .addColumn('error_message', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('execution_attempts_pk', ['execution_id', 'round', 'attempt'])
    .execute();
  await db.schema
    .alterTable('executions')
    .addColumn('round', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema.alterTable('executions').addColumn('attempt_started_at', 'bigint').execute();
}

async function createPauses(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('agent_pauses')
    .addColumn('agent', 'text', (column) => column.primaryKey())
    .addColumn('paused_at', 'bigint', (column) => column.notNull())
    .execute();
}

/**
 * Lists of ended executions, newest first. The others are found with the small indexes for claims: to Postgres'
 * planner, another index on them would look like those, and every change of state would write to it.
 */
async function createListIndexes(db: Kysely<unknown>): Promise<void> {
  for (const [name, columns] of [
    ['executions_ended', ['state', 'seq']],
    ['executions_ended_by_agent', ['agent', 'state', 'seq']],
  ] as const) {
    await db.schema
      .createIndex(name)
      .on('executions')
      .columns([...columns])
      .where(sql.ref('ended_at'), 'is not', null)
      .execute();
  }
}
