import { type Kysely, sql } from 'kysely';
import type { NumberedMigration } from './migration.js';

/** What it takes to let work wait while a configuration lacks its agent or its subscription, and to say which process has which. */
export const changedConfigurations: NumberedMigration = {
  name: '0016-changed-configurations',
  oldestProgram: '0.1.0',
  async up(db) {
    await createSubscriptions(db);
    await describeProcesses(db);
    // With the agent, so that those of some agents are counted without reading the table.
    await db.schema.dropIndex('executions_retrying').execute();
    await db.schema
      .createIndex('executions_retrying')
      .on('executions')
      .columns(['available_at', 'agent'])
      .where(sql<boolean>`state = 'pending' and available_at is not null`)
      .execute();
  },
};

/** Earlier programs named a subscription by its place in the configuration. The first configuration after this step says what it is. */
async function createSubscriptions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('subscriptions')
    .addColumn('agent', 'text', (column) => column.notNull())
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('identity', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('subscriptions_pk', ['agent', 'number'])
    .execute();
  await db.schema.createIndex('subscriptions_by_identity').on('subscriptions').columns(['agent', 'identity']).unique().execute();
  await sql`insert into subscriptions (agent, number, identity) select distinct agent, subscription, 'place ' || subscription from join_groups`.execute(db);
}

async function describeProcesses(db: Kysely<unknown>): Promise<void> {
  for (const column of ['roles', 'version', 'configuration', 'subscriptions'] as const) {
    await db.schema.alterTable('workers').addColumn(column, 'text').execute();
  }
  for (const column of ['started_at', 'seen_at'] as const) await db.schema.alterTable('workers').addColumn(column, 'bigint').execute();
}
