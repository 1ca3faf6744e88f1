import type { NumberedMigration } from './migration.js';

/** The line of a limit in which the turn of an execution was counted when the limit let it go, and not when it starts. */
export const countedTurns: NumberedMigration = {
  name: '0038-counted-turns',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('executions').addColumn('counted_in', 'text').execute();
  },
};
