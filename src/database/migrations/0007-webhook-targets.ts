import { sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/** Lists and counts the deliveries of one target in one state, however many it has in other states. */
export const webhookTargets: NumberedMigration = {
  name: '0007-webhook-targets',
  oldestProgram: '0.1.0',
  async up(db) {
    await db.schema
      .createIndex('deliveries_by_target_and_state')
      .on('deliveries')
      .columns(['target_id', 'state', 'seq'])
      .execute();
    await db.schema.dropIndex('deliveries_by_target').execute();
    await db.schema
      .createIndex('webhook_targets_failing')
      .on('webhook_targets')
      .column('id')
      .where(sql<boolean>`failing_since is not null`)
      .execute();
  },
};
