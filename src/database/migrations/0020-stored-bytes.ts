import type { NumberedMigration } from './migration.js';

/**
 * Stored bytes of batches, to bound those that wait. Batches of earlier versions count as zero, so that the migration
 * does not read their rows.
 */
export const storedBytes: NumberedMigration = {
  name: '0020-stored-bytes',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema
      .alterTable('batches')
      .addColumn('stored_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
