import type { NumberedMigration } from './migration.js';

/** Data to count a model call whose process was killed. */
export const reservedCalls: NumberedMigration = {
  name: '0019-reserved-calls',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('budget_reservations').addColumn('model', 'text').execute();
    await db.schema.alterTable('budget_reservations').addColumn('input_tokens', 'bigint').execute();
  },
};
