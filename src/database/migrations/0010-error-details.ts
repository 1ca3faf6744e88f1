import type { NumberedMigration } from './migration.js';

/** Stores the origin of the error of a failed attempt. */
export const errorDetails: NumberedMigration = {
  name: '0010-error-details',
  oldestProgram: '0.1.0',
  async up(db) {
    for (const table of ['executions', 'execution_attempts'])
      for (const column of ['error_cause', 'error_stack'])
        await db.schema.alterTable(table).addColumn(column, 'text').execute();
  },
};
