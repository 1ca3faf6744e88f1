import { sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/** The limits that executions hold until they end, also while they wait. */
export const heldLimits: NumberedMigration = {
  name: '0023-held-limits',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('executions').addColumn('held_keys', 'text').execute();
    // Only of executions that have not ended, however many have.
    await db.schema
      .createIndex('executions_holding')
      .on('executions')
      .column('seq')
      .where(sql<boolean>`held_keys is not null and ended_at is null`)
      .execute();
  },
};
