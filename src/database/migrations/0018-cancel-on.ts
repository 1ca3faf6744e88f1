import { sql } from 'kysely';

import type { NumberedMigration } from './migration.js';
import { primaryKey, required } from './table-parts.js';

/** Artifacts that cancel executions by a key. */
export const cancelOn: NumberedMigration = {
  name: '0018-cancel-on',
  oldestProgram: '0.1.0',
  async up(db) {
    for (const column of ['cancel_key', 'cancelled_by'])
      await db.schema.alterTable('executions').addColumn(column, 'text').execute();
    // Only of executions that have not ended, however many of a key have.
    await db.schema
      .createIndex('executions_to_cancel')
      .on('executions')
      .columns(['agent', 'cancel_key', 'seq'])
      .where(sql<boolean>`cancel_key is not null and ended_at is null`)
      .execute();
    await db.schema
      .createTable('cancel_requests')
      .addColumn('id', 'text', primaryKey)
      .addColumn('agent', 'text', required)
      .addColumn('cancel_key', 'text', required)
      .addColumn('up_to_seq', 'bigint', required)
      .addColumn('artifact_id', 'text', required)
      .execute();
  },
};
