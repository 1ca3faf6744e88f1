import type { NumberedMigration } from './migration.js';

/** Executions that never started, because a later artifact took the place of their inputs. */
export const debounce: NumberedMigration = {
  name: '0022-debounce',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('executions').addColumn('superseded_by', 'text').execute();
  },
};
