import type { NumberedMigration } from './migration.js';

/**
 * Says which correlations may belong to a run, so that the others settle without a look at `runs`. Existing ones and
 * those of older versions may.
 */
export const correlationsOfRuns: NumberedMigration = {
  name: '0009-correlations-of-runs',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema
      .alterTable('correlations')
      .addColumn('has_run', 'integer', (column) => column.notNull().defaultTo(1))
      .execute();
  },
};
