import type { Kysely } from 'kysely';

import type { NumberedMigration } from './migration.js';

/** Data to explain why an agent ran on an artifact, or did not. */
export const reasons: NumberedMigration = {
  name: '0008-reasons',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema.alterTable('executions').addColumn('subscription', 'integer').execute();
    // Consumptions exist only for ended executions. Artifacts are appended, so this index only grows at its end.
    await db.schema.createIndex('execution_inputs_by_artifact').on('execution_inputs').column('artifact_seq').execute();
    await findArrivalsByArtifact(db);
  },
};

/** Thousands of artifacts of one correlation may wait. This finds one of them by its position. */
async function findArrivalsByArtifact(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropIndex('join_arrivals_by_correlation').execute();
  await db.schema
    .createIndex('join_arrivals_by_correlation')
    .on('join_arrivals')
    .columns(['correlation_id', 'artifact_seq'])
    .execute();
}
