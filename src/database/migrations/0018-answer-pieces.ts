import type { NumberedMigration } from './migration.js';

/**
 * Large answers are stored under their idempotency keys as a list of pieces. Earlier versions find no answer there and
 * build one from the same artifacts.
 */
export const answerPieces: NumberedMigration = {
  name: '0018-answer-pieces',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('idempotency_keys').addColumn('pieces', 'text').execute();
  },
};
