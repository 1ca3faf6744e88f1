import { sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/** The variants with which executions ran, and those that are rolled back. */
export const variants: NumberedMigration = {
  name: '0025-variants',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('executions').addColumn('variant', 'text').execute();
    // The last executions of each variant, however many replays there are. Agents without variants have none in it.
    await db.schema
      .createIndex('executions_by_variant')
      .on('executions')
      .columns(['agent', 'variant', 'replay', 'seq'])
      .where(sql<boolean>`variant is not null`)
      .execute();
    await db.schema.alterTable('breakers').addColumn('variant', 'text').execute();
    await db.schema.alterTable('breakers').addColumn('opened_at', 'bigint').execute();
  },
};
