import type { NumberedMigration } from './migration.js';

/** Whether a limit has let an execution go, so that it does not go to the end of the line again. */
export const unblocked: NumberedMigration = {
  name: '0037-unblocked',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema
      .alterTable('executions')
      .addColumn('unblocked', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
