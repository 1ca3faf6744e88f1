import { type Kysely, sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/**
 * Lists of correlations find a state by an index on `correlations` instead of rows in `correlation_terms`, which costs a
 * publish less.
 */
export const correlationsByState: NumberedMigration = {
  name: '0008-correlations-by-state',
  oldestProgram: '0.1.0',
  async up(db: Kysely<unknown>) {
    await db.schema
      .createIndex('correlations_by_state')
      .on('correlations')
      .columns(['state', 'started_at', 'seq'])
      .execute();
    await sql`delete from correlation_terms where kind = 'state'`.execute(db);
  },
};
