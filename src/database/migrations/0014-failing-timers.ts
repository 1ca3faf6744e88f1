import type { NumberedMigration } from './migration.js';

/** How often a timer could not be fired, and when it was due before that. */
export const failingTimers: NumberedMigration = {
  name: '0014-failing-timers',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('timers').addColumn('failures', 'integer', (column) => column.notNull().defaultTo(0)).execute();
    await db.schema.alterTable('timers').addColumn('was_due_at', 'bigint').execute();
  },
};
