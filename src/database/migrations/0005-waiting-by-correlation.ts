import { sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/**
 * Finds what one correlation waits for, however much it has done before and however much others wait. Processes register
 * how many executions they may run, so that every process knows which of them are full.
 */
export const waitingByCorrelation: NumberedMigration = {
  name: '0005-waiting-by-correlation',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('timers').addColumn('correlation_id', 'text').execute();
    await sql`
      update timers
      set correlation_id = (select artifacts.correlation_id from artifacts where artifacts.seq = cast(timers.subject as bigint))
      where kind = 'release'`.execute(db);
    await db.schema
      .createIndex('timers_by_correlation')
      .on('timers')
      .columns(['correlation_id', 'due_at', 'id'])
      .where(sql<boolean>`correlation_id is not null`)
      .execute();
    // The condition differs from those of the indexes of claims, so that Postgres' planner uses it for no claim.
    await db.schema
      .createIndex('executions_open_by_correlation')
      .on('executions')
      .columns(['correlation_id', 'seq'])
      .where(sql<boolean>`ended_at is null`)
      .execute();
    await db.schema.alterTable('processes').addColumn('max_executions', 'integer').execute();
  },
};
