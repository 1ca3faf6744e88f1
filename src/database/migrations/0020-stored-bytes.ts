import type { NumberedMigration } from './migration.js';

/** What batches store, so that those that wait can be bounded. Batches of earlier programs count as nothing: their rows are not read for it. */
export const storedBytes: NumberedMigration = {
  name: '0020-stored-bytes',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('batches').addColumn('stored_bytes', 'bigint', (column) => column.notNull().defaultTo(0)).execute();
  },
};
