import type { NumberedMigration } from './migration.js';

/** The configurations that replays take agents from: those that processes have, and that executions need. */
export const replayConfigurations: NumberedMigration = {
  name: '0027-replay-configurations',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema
      .alterTable('processes')
      .addColumn('replay_configurations', 'text', (column) => column.notNull().defaultTo('{}'))
      .execute();
    await db.schema.alterTable('executions').addColumn('configuration', 'text').execute();
  },
};
