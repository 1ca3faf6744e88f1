import type { NumberedMigration } from './migration.js';

/** Finds the breakers that are forgotten, however many keys have failures. */
export const forgottenBreakers: NumberedMigration = {
  name: '0026-forgotten-breakers',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.createIndex('breakers_forgotten').on('breakers').column('forget_at').execute();
  },
};
