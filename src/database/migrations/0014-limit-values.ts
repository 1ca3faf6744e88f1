import type { NumberedMigration } from './migration.js';
import { primaryKey, required } from './table-parts.js';

/** The values that clients have set for limits. */
export const limitValues: NumberedMigration = {
  name: '0014-limit-values',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema
      .createTable('limit_values')
      .addColumn('name', 'text', primaryKey)
      .addColumn('options', 'text', required)
      .addColumn('set_at', 'bigint', required)
      .execute();
  },
};
