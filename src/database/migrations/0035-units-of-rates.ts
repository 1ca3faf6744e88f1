import type { NumberedMigration } from './migration.js';

/** How long a unit lasts at the rate with which a row was used last. With another one, it gets another length. */
export const unitsOfRates: NumberedMigration = {
  name: '0035-units-of-rates',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('limit_rates').addColumn('unit_ms', 'double precision').execute();
  },
};
