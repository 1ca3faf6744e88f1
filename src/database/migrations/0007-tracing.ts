import type { NumberedMigration } from './migration.js';

/** Parents of traces, so that a trace continues in other processes and after a restart. */
export const tracing: NumberedMigration = {
  name: '0007-tracing',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('correlations').addColumn('traceparent', 'text').execute();
    await db.schema.alterTable('executions').addColumn('traceparent', 'text').execute();
    await db.schema.alterTable('deliveries').addColumn('traceparent', 'text').execute();
  },
};
