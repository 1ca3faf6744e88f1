import type { NumberedMigration } from './migration.js';
import { primaryKey, required } from './table-parts.js';

/** Answers of agents that have `cache`. */
export const cachedAnswers: NumberedMigration = {
  name: '0019-cached-answers',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('executions').addColumn('cached_from', 'text').execute();
    await db.schema
      .createTable('cached_answers')
      .addColumn('key', 'text', primaryKey)
      .addColumn('answer', 'text', required)
      .addColumn('execution_id', 'text', required)
      .addColumn('expires_at', 'bigint', required)
      .execute();
    await db.schema.createIndex('cached_answers_by_expiry').on('cached_answers').column('expires_at').execute();
  },
};
