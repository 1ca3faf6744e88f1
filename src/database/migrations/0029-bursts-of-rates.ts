import type { NumberedMigration } from './migration.js';

/** The burst with which a rate was used last: it bounds how far ahead its time may be, also in processes with another one. */
export const burstsOfRates: NumberedMigration = {
  name: '0029-bursts-of-rates',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('limit_rates').addColumn('burst_ms', 'double precision').execute();
  },
};
