import type { NumberedMigration } from './migration.js';

/** The time since which a webhook target fails. */
export const failingTargets: NumberedMigration = {
  name: '0010-failing-targets',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('webhook_targets').addColumn('failing_since', 'bigint').execute();
  },
};
