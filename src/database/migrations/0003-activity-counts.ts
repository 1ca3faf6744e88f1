import type { NumberedMigration } from './migration.js';
import { prepareForChurn, primaryKey, required } from './table-parts.js';

/**
 * Counts of what agents do, by minute, quarter of an hour and hour, with histograms of latency. Executions that exist
 * are not counted: `activity_since` says since when there are counts.
 */
export const activityCounts: NumberedMigration = {
  name: '0003-activity-counts',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    // SQLite adds one column at a time.
    await db.schema.alterTable('activity').addColumn('minute', 'bigint').execute();
    await db.schema.alterTable('activity').addColumn('event', 'text').execute();
    await db.schema.alterTable('activity').addColumn('bucket', 'integer').execute();
    await db.schema
      .alterTable('activity')
      .addColumn('events', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema
      .createTable('activity_counts')
      .addColumn('resolution', 'integer', required)
      .addColumn('start', 'bigint', required)
      .addColumn('agent', 'text', required)
      .addColumn('event', 'text', required)
      .addColumn('bucket', 'integer', required)
      .addColumn('count', 'bigint', required)
      .addPrimaryKeyConstraint('activity_counts_pk', ['resolution', 'start', 'agent', 'event', 'bucket'])
      .execute();
    await db.schema
      .createIndex('activity_counts_by_agent')
      .on('activity_counts')
      .columns(['agent', 'resolution', 'start'])
      .execute();
    await prepareForChurn(db, dialect, 'activity_counts');
    await db.schema
      .createTable('activity_since')
      .addColumn('id', 'integer', primaryKey)
      .addColumn('since', 'bigint', required)
      .execute();
  },
};
