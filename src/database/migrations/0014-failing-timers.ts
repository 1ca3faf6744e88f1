import type { NumberedMigration } from './migration.js';

/** The number of a timer's failures, and its original due time. */
export const failingTimers: NumberedMigration = {
  name: '0014-failing-timers',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema
      .alterTable('timers')
      .addColumn('failures', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema.alterTable('timers').addColumn('was_due_at', 'bigint').execute();
  },
};
