import type { Kysely } from 'kysely';

import type { NumberedMigration } from './migration.js';

/** Model usage of agents and its cost. */
export const usage: NumberedMigration = {
  name: '0009-usage',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await db.schema
      .createTable('usage')
      .addColumn('seq', dialect.positionType, (column) => dialect.position(column))
      .addColumn('execution_id', 'text', (column) => column.notNull())
      .addColumn('attempt', 'integer', (column) => column.notNull())
      .addColumn('lease_token', 'text', (column) => column.notNull())
      .addColumn('agent', 'text', (column) => column.notNull())
      .addColumn('correlation_id', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('input_tokens', 'bigint', (column) => column.notNull())
      .addColumn('output_tokens', 'bigint', (column) => column.notNull())
      .addColumn('cost', 'double precision')
      .addColumn('latency_ms', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('usage_by_execution').on('usage').column('execution_id').execute();
    await db.schema.createIndex('usage_by_agent').on('usage').columns(['correlation_id', 'agent']).execute();
    for (const table of ['correlations', 'activity', 'activity_hours', 'batches']) await addSums(db, table);
  },
};

async function addSums(db: Kysely<unknown>, table: string): Promise<void> {
  for (const name of ['input_tokens', 'output_tokens']) {
    await db.schema
      .alterTable(table)
      .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
  }
  await db.schema.alterTable(table).addColumn('cost', 'double precision').execute();
}
