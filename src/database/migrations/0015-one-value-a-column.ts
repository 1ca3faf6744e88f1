import { type Kysely, sql } from 'kysely';

import type { NumberedMigration } from './migration.js';
import { fromZero } from './table-parts.js';

/**
 * Gives each value its own column: priority and background work, the released lease of an execution, and the correlation
 * of a deadline.
 */
export const oneValueAColumn: NumberedMigration = {
  name: '0015-one-value-a-column',
  oldestProgram: '0.1.0',
  async up(db) {
    await separateBackground(db, 'executions');
    await separateBackground(db, 'deliveries');
    await indexClaims(db);
    await separateReleases(db);
    // The subject was the correlation's generation, a space and its id.
    await sql`update timers set subject = substr(ltrim(subject, '0123456789'), 2) where kind = 'deadline'`.execute(db);
  },
};

/** The priority was twice that of the subscription, minus one for background work. */
async function separateBackground(db: Kysely<unknown>, table: string): Promise<void> {
  await db.schema.alterTable(table).addColumn('background', 'integer', fromZero).execute();
  await sql`
    update ${sql.table(table)} set background = priority & 1, priority = (priority + (priority & 1)) / 2
    where priority <> 0`.execute(db);
}

/** The indexes in the order of claims. */
async function indexClaims(db: Kysely<unknown>): Promise<void> {
  const indexes = [
    ['executions_ready', 'executions', ['agent'], sql`state = 'pending' and available_at is null`],
    [
      'executions_ready_by_assignee',
      'executions',
      ['agent', 'assignee'],
      sql`state = 'pending' and available_at is null and assignee is not null`,
    ],
    ['executions_blocked', 'executions', ['blocked_on'], sql`blocked_on is not null`],
    ['deliveries_ready', 'deliveries', ['queue'], sql`state = 'pending' and available_at is null`],
  ] as const;
  for (const [name, table, columns, condition] of indexes) {
    await db.schema.dropIndex(name).execute();
    await db.schema
      .createIndex(name)
      .on(table)
      .columns([...columns, 'priority desc', 'background', 'seq'])
      .where(condition.$castTo<boolean>())
      .execute();
  }
}

/** The ended lease was `released`, a space and the lease if a client had released it. */
async function separateReleases(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('executions').addColumn('released_lease', 'text').execute();
  await sql`
    update executions set released_lease = substr(ended_lease, 10), ended_lease = null
    where ended_lease like 'released %'`.execute(db);
}
