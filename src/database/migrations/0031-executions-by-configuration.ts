import { sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/** Counts the waiting executions of replays with a configuration, however many others wait. */
export const executionsByConfiguration: NumberedMigration = {
  name: '0031-executions-by-configuration',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema
      .createIndex('executions_by_configuration')
      .on('executions')
      .columns(['configuration', 'agent'])
      .where(sql<boolean>`state = 'pending' and configuration is not null`)
      .execute();
  },
};
