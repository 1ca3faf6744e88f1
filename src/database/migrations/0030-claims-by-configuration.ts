import { sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/** The indexes of claims begin with what a process needs to claim a row, so that rows which it cannot claim are not read. */
export const claimsByConfiguration: NumberedMigration = {
  name: '0030-claims-by-configuration',
  oldestProgram: '0.1.0',
  async up(db) {
    const indexes = [
      ['executions_ready', ['agent'], sql`state = 'pending' and available_at is null`],
      [
        'executions_fair',
        ['agent', 'fair_key'],
        sql`state = 'pending' and available_at is null and fair_key is not null`,
      ],
    ] as const;
    for (const [name, columns, condition] of indexes) {
      await db.schema.dropIndex(name).execute();
      await db.schema
        .createIndex(name)
        .on('executions')
        .columns([...columns, 'configuration', 'priority desc', 'background', 'seq'])
        .where(condition.$castTo<boolean>())
        .execute();
    }
  },
};
