import { sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/** Finds what waits for one assignee, however much waits for others or has ended. */
export const assigned: NumberedMigration = {
  name: '0012-assigned',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema
      .createIndex('executions_ready_by_assignee')
      .on('executions')
      .columns(['agent', 'assignee', 'priority desc', 'seq'])
      .where(sql<boolean>`state = 'pending' and available_at is null and assignee is not null`)
      .execute();
  },
};
