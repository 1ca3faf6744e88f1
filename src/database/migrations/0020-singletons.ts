import { sql } from 'kysely';

import type { NumberedMigration } from './migration.js';
import { fromZero } from './table-parts.js';

/** Executions of which at most one of a key has its turn. */
export const singletons: NumberedMigration = {
  name: '0020-singletons',
  oldestProgram: '0.1.0',
  async up(db) {
    for (const column of ['singleton_key', 'skipped_for'])
      await db.schema.alterTable('executions').addColumn(column, 'text').execute();
    await db.schema.alterTable('executions').addColumn('singleton_waits', 'integer', fromZero).execute();
    // Only of executions that have not ended, however many of a key have.
    await db.schema
      .createIndex('executions_singletons')
      .on('executions')
      .columns(['agent', 'singleton_key', 'seq'])
      .where(sql<boolean>`singleton_key is not null and ended_at is null`)
      .execute();
    // Finds who has the turn of a key, however many wait for it.
    await db.schema
      .createIndex('executions_turns')
      .on('executions')
      .columns(['agent', 'singleton_key'])
      .where(sql<boolean>`singleton_key is not null and singleton_waits = 0 and ended_at is null`)
      .execute();
    await db.schema.alterTable('cancel_requests').addColumn('singleton', 'integer', fromZero).execute();
  },
};
