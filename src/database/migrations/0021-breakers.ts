import { sql } from 'kysely';

import type { NumberedMigration } from './migration.js';
import { primaryKey, required } from './table-parts.js';

/** The breakers of agents whose attempts have failed. */
export const breakers: NumberedMigration = {
  name: '0021-breakers',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema
      .createTable('breakers')
      .addColumn('breaker_key', 'text', primaryKey)
      .addColumn('agent', 'text', required)
      .addColumn('outcomes', 'text', required)
      .addColumn('open_until', 'bigint')
      .addColumn('forget_at', 'bigint', required)
      .execute();
    // Counts those that are not closed, however many have failures.
    await db.schema
      .createIndex('breakers_open')
      .on('breakers')
      .column('agent')
      .where(sql<boolean>`open_until is not null`)
      .execute();
  },
};
