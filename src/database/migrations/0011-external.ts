import { sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/** Executions of external agents: their assignee, due time, claimant and last lease. */
export const external: NumberedMigration = {
  name: '0011-external',
  oldestProgram: '0.1.0',
  async up(db) {
    for (const name of ['assignee', 'claimed_by', 'ended_lease'])
      await db.schema.alterTable('executions').addColumn(name, 'text').execute();
    for (const name of ['due_at', 'escalated_at'])
      await db.schema.alterTable('executions').addColumn(name, 'bigint').execute();
    // Without a condition on the state, because lists include ended executions.
    await db.schema
      .createIndex('executions_by_assignee')
      .on('executions')
      .columns(['assignee', 'seq'])
      .where(sql.ref('assignee'), 'is not', null)
      .execute();
  },
};
