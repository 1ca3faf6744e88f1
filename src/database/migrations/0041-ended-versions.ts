import type { NumberedMigration } from './migration.js';

/** The last version of a deleted schedule ends with it, so that a later schedule of its name does not continue it. */
export const endedVersions: NumberedMigration = {
  name: '0041-ended-versions',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('schedule_versions').addColumn('ended_at', 'bigint').execute();
  },
};
