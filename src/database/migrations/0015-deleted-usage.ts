import type { NumberedMigration } from './migration.js';

/** Model usage of deleted executions, for budgets that are still in use. */
export const deletedUsage: NumberedMigration = {
  name: '0015-deleted-usage',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema
      .createTable('deleted_usage')
      .addColumn('correlation_id', 'text', (column) => column.notNull())
      .addColumn('agent', 'text', (column) => column.notNull())
      .addColumn('tokens', 'bigint', (column) => column.notNull())
      .addColumn('cost', 'double precision', (column) => column.notNull())
      .addPrimaryKeyConstraint('deleted_usage_key', ['correlation_id', 'agent'])
      .execute();
  },
};
