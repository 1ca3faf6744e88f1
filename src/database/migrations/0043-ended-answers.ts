import type { NumberedMigration } from './migration.js';

/** A client that completes an execution again with another answer is refused. */
export const endedAnswers: NumberedMigration = {
  name: '0043-ended-answers',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('executions').addColumn('ended_answer', 'text').execute();
  },
};
