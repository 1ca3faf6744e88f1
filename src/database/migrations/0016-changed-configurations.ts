import { type Kysely, sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/** Lets work wait while a configuration lacks its agent or its subscription, and shows which process has which. */
export const changedConfigurations: NumberedMigration = {
  name: '0016-changed-configurations',
  oldestProgram: '0.1.0',
  async up(db) {
    await createSubscriptions(db);
    await describeProcesses(db);
    // Includes the agent, so that executions of some agents can be counted without reading the table.
    await db.schema.dropIndex('executions_retrying').execute();
    await db.schema
      .createIndex('executions_retrying')
      .on('executions')
      .columns(['available_at', 'agent'])
      .where(sql<boolean>`state = 'pending' and available_at is not null`)
      .execute();
  },
};

/**
 * Earlier versions identified a subscription by its index in the configuration. The first configuration after this
 * migration says which subscription that is.
 */
async function createSubscriptions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('subscriptions')
    .addColumn('agent', 'text', (column) => column.notNull())
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('identity', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('subscriptions_pk', ['agent', 'number'])
    .execute();
  await db.schema
    .createIndex('subscriptions_by_identity')
    .on('subscriptions')
    .columns(['agent', 'identity'])
    .unique()
    .execute();
  await sql`insert into subscriptions (agent, number, identity) select distinct agent, subscription, 'place ' || subscription from join_groups`.execute(
    db,
  );
}

async function describeProcesses(db: Kysely<unknown>): Promise<void> {
  for (const column of ['roles', 'version', 'configuration', 'subscriptions'] as const) {
    await db.schema.alterTable('workers').addColumn(column, 'text').execute();
  }
  for (const column of ['started_at', 'seen_at'] as const)
    await db.schema.alterTable('workers').addColumn(column, 'bigint').execute();
}
