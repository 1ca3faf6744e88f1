import { type Kysely, sql } from 'kysely';

import { failureGroupOf } from '../../common/failure-group.js';
import type { Dialect } from '../dialects/dialect.js';
import type { Schema } from '../schema.js';
import type { NumberedMigration } from './migration.js';
import { positionedTable, prepareForChurn, primaryKey, required } from './table-parts.js';

const AT_ONCE = 1_000;

/** Groups of failed executions, also of those that have failed before. */
export const failureGroups: NumberedMigration = {
  name: '0004-failure-groups',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await createChanges(db, dialect);
    await createGroups(db);
    await db.schema.alterTable('executions').addColumn('failure_group', 'text').execute();
    await groupFailedExecutions(db as Kysely<Schema>);
    await db.schema
      .createIndex('executions_by_failure_group')
      .on('executions')
      .columns(['failure_group', 'seq'])
      .where(sql<boolean>`failure_group is not null`)
      .execute();
  },
};

async function createChanges(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await positionedTable(db, dialect, 'failure_changes')
    .addColumn('failure_group', 'text', required)
    .addColumn('change', 'integer', required)
    .addColumn('agent', 'text')
    .addColumn('error_type', 'text')
    .addColumn('message', 'text')
    .addColumn('failed_at', 'bigint')
    .execute();
  await prepareForChurn(db, dialect, 'failure_changes');
}

/** Each list of groups, with each of its filters, has an index in the order of the list. */
async function createGroups(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('failure_groups')
    .addColumn('id', 'text', primaryKey)
    .addColumn('agent', 'text', required)
    .addColumn('error_type', 'text', required)
    .addColumn('message', 'text', required)
    .addColumn('count', 'bigint', required)
    .addColumn('first_at', 'bigint', required)
    .addColumn('last_at', 'bigint', required)
    .execute();
  const index = (name: string, columns: string[]) =>
    db.schema
      .createIndex(name)
      .on('failure_groups')
      .columns([...columns, 'last_at', 'id'])
      .where(sql<boolean>`count > 0`)
      .execute();
  await index('failure_groups_by_time', []);
  await index('failure_groups_by_agent', ['agent']);
  await index('failure_groups_by_type', ['error_type']);
  await index('failure_groups_by_agent_and_type', ['agent', 'error_type']);
  // Retention finds the groups that have no failed execution any more.
  await db.schema
    .createIndex('failure_groups_empty')
    .on('failure_groups')
    .column('last_at')
    .where(sql<boolean>`count = 0`)
    .execute();
}

async function groupFailedExecutions(db: Kysely<Schema>): Promise<void> {
  for (let after = 0; ;) {
    const failed = await db
      .selectFrom('executions')
      .select(['seq', 'agent', 'error_type', 'error_message', 'ended_at'])
      .where('state', '=', sql.lit('failed' as const))
      .where('ended_at', 'is not', null)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(AT_ONCE)
      .execute();
    const last = failed.at(-1);
    if (!last) return;
    after = last.seq;
    const grouped = failed.map(({ seq, agent, error_type, error_message, ended_at }) => {
      const errorType = error_type ?? '';
      const { id, message } = failureGroupOf(agent, errorType, error_message ?? '');
      return { seq, id, agent, error_type: errorType, message, at: ended_at! };
    });
    for (const members of Map.groupBy(grouped, ({ id }) => id).values()) await addToGroup(db, members);
  }
}

interface GroupedExecution {
  seq: number;
  id: string;
  agent: string;
  error_type: string;
  message: string;
  at: number;
}

async function addToGroup(db: Kysely<Schema>, members: readonly GroupedExecution[]): Promise<void> {
  const { id, agent, error_type, message } = members[0]!;
  const times = members.map(({ at }) => at);
  await db
    .updateTable('executions')
    .set({ failure_group: id })
    .where(
      'seq',
      'in',
      members.map(({ seq }) => seq),
    )
    .execute();
  await db
    .insertInto('failure_groups')
    .values({
      id,
      agent,
      error_type,
      message,
      count: members.length,
      first_at: Math.min(...times),
      last_at: Math.max(...times),
    })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({
        count: eb('failure_groups.count', '+', eb.ref('excluded.count')),
        first_at: sql<number>`case when excluded.first_at < failure_groups.first_at then excluded.first_at else failure_groups.first_at end`,
        last_at: sql<number>`case when excluded.last_at > failure_groups.last_at then excluded.last_at else failure_groups.last_at end`,
      })),
    )
    .execute();
}
