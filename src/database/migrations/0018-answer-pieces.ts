import type { NumberedMigration } from './migration.js';

/**
 * Large answers are kept under their idempotency keys as what they are made of. Earlier programs find no answer there and make one
 * themselves, of the same artifacts.
 */
export const answerPieces: NumberedMigration = {
  name: '0018-answer-pieces',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('idempotency_keys').addColumn('pieces', 'text').execute();
  },
};
