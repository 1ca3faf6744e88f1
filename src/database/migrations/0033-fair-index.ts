import { sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/**
 * Gives the index of executions that take turns a condition that no other index fits. With the condition of
 * `executions_ready`, Postgres took that index for plans that it made while few executions waited, and kept them: then a
 * claim read all ready executions of the agent for each key.
 */
export const fairIndex: NumberedMigration = {
  name: '0033-fair-index',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.dropIndex('executions_fair').execute();
    await db.schema
      .createIndex('executions_fair')
      .on('executions')
      .columns(['agent', 'fair_key', 'configuration', 'priority desc', 'background', 'seq'])
      .where(sql<boolean>`case when state = 'pending' and available_at is null then fair_key end is not null`)
      .execute();
  },
};
