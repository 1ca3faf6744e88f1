import { sql } from 'kysely';

import type { NumberedMigration } from './migration.js';
import { fromZero, required } from './table-parts.js';

/**
 * Correlations that repeat others. Their artifacts and executions are marked, so that lists, streams and failure groups
 * leave them out, and their artifacts are counted apart from the others.
 */
export const replays: NumberedMigration = {
  name: '0016-replays',
  oldestProgram: '0.1.0',
  async up(db) {
    for (const column of ['origin', 'replay_mode', 'replay_options'])
      await db.schema.alterTable('correlations').addColumn(column, 'text').execute();
    for (const table of ['artifacts', 'executions'])
      await db.schema.alterTable(table).addColumn('replay', 'integer', fromZero).execute();
    await db.schema
      .createIndex('artifacts_of_replays')
      .on('artifacts')
      .column('seq')
      .where(sql<boolean>`replay = 1`)
      .execute();
    await db.schema
      .createTable('replay_counts')
      .addColumn('type', 'text', required)
      .addColumn('produced_by', 'text', required)
      .addColumn('visibility_kind', 'text', required)
      .addColumn('count', 'bigint', required)
      .addColumn('earliest_created_at', 'bigint', required)
      .addColumn('latest_created_at', 'bigint', required)
      .addPrimaryKeyConstraint('replay_counts_of_kind', ['type', 'produced_by', 'visibility_kind'])
      .execute();
  },
};
