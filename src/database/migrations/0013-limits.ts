import { sql } from 'kysely';

import type { NumberedMigration } from './migration.js';
import { primaryKey, required } from './table-parts.js';

/** The limits that executions take part in, those that they wait for, and what rates have used. */
export const limits: NumberedMigration = {
  name: '0013-limits',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await db.schema.alterTable('executions').addColumn('limit_keys', 'text').execute();
    // In the order of its bytes, so that the keys of one limit follow one another.
    await db.schema
      .alterTable('executions')
      .addColumn('blocked_on', 'text', (column) =>
        dialect.name === 'postgres' ? column.modifyEnd(sql`collate "C"`) : column,
      )
      .execute();
    await db.schema
      .createIndex('executions_blocked')
      .on('executions')
      .columns(['blocked_on', 'priority desc', 'seq'])
      .where(sql<boolean>`blocked_on is not null`)
      .execute();
    await db.schema
      .createTable('limit_rates')
      .addColumn('limit_key', 'text', primaryKey)
      .addColumn('used_until', 'double precision', required)
      .execute();
  },
};
