import type { NumberedMigration } from './migration.js';

/** What a call of a model counts as whose process is killed. */
export const reservedCalls: NumberedMigration = {
  name: '0019-reserved-calls',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('budget_reservations').addColumn('model', 'text').execute();
    await db.schema.alterTable('budget_reservations').addColumn('input_tokens', 'bigint').execute();
  },
};
