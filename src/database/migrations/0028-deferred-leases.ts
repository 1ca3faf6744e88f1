import type { NumberedMigration } from './migration.js';

/**
 * The lease under which a remote agent answers later. A process whose configuration lacks the agent can then tell such an
 * execution from one that a client has claimed.
 */
export const deferredLeases: NumberedMigration = {
  name: '0028-deferred-leases',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('executions').addColumn('deferred_lease', 'text').execute();
  },
};
