import type { NumberedMigration } from './migration.js';

/** A place of a limit may be kept free for a moment for an execution that needs room of two limits at the same time. */
export const keptPlaces: NumberedMigration = {
  name: '0036-kept-places',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('limit_rates').addColumn('kept_for', 'text').execute();
    await db.schema.alterTable('limit_rates').addColumn('kept_until', 'double precision').execute();
  },
};
