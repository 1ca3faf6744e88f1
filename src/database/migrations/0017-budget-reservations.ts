import type { NumberedMigration } from './migration.js';

/** Budget reservations of running model calls, and the executions that wait for room in a budget. */
export const budgetReservations: NumberedMigration = {
  name: '0017-budget-reservations',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema
      .createTable('budget_reservations')
      .addColumn('execution_id', 'text', (column) => column.primaryKey())
      .addColumn('lease_token', 'text', (column) => column.notNull())
      .addColumn('correlation_id', 'text', (column) => column.notNull())
      .addColumn('agent', 'text', (column) => column.notNull())
      .addColumn('tokens', 'bigint', (column) => column.notNull())
      .addColumn('cost', 'double precision', (column) => column.notNull())
      .addColumn('waits', 'integer', (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('budget_reservations_of_correlation')
      .on('budget_reservations')
      .column('correlation_id')
      .execute();
  },
};
