import type { NumberedMigration } from './migration.js';

/** Tool calls of agents' models. */
export const toolCalls: NumberedMigration = {
  name: '0013-tool-calls',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await db.schema
      .createTable('tool_calls')
      .addColumn('seq', dialect.positionType, (column) => dialect.position(column))
      .addColumn('execution_id', 'text', (column) => column.notNull())
      .addColumn('attempt', 'integer', (column) => column.notNull())
      .addColumn('lease_token', 'text', (column) => column.notNull())
      .addColumn('server', 'text', (column) => column.notNull())
      .addColumn('tool', 'text', (column) => column.notNull())
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('duration_ms', 'bigint')
      .addColumn('result_bytes', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('tool_calls_by_execution').on('tool_calls').columns(['execution_id', 'seq']).execute();
  },
};
