import type { NumberedMigration } from './migration.js';
import { primaryKey, required } from './table-parts.js';

/** Stores the definition of each agent once, and with each execution the digest of the one that ended it. */
export const definitions: NumberedMigration = {
  name: '0012-definitions',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema
      .createTable('definitions')
      .addColumn('digest', 'text', primaryKey)
      .addColumn('agent', 'text', required)
      .addColumn('definition', 'text', required)
      .addColumn('first_used_at', 'bigint', required)
      .execute();
    await db.schema.alterTable('executions').addColumn('definition', 'text').execute();
  },
};
