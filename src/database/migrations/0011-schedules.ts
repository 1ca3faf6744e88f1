import type { NumberedMigration } from './migration.js';
import { positionedTable, primaryKey, required } from './table-parts.js';

/** Schedules, their versions and their ticks. */
export const schedules: NumberedMigration = {
  name: '0011-schedules',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await db.schema
      .createTable('schedules')
      .addColumn('name', 'text', primaryKey)
      .addColumn('version', 'integer', required)
      .addColumn('source', 'text', required)
      .addColumn('configuration', 'text', required)
      .addColumn('position', 'bigint', required)
      .addColumn('paused_at', 'bigint')
      .addColumn('created_at', 'bigint', required)
      .addColumn('updated_at', 'bigint', required)
      .execute();
    await db.schema
      .createTable('schedule_versions')
      .addColumn('schedule', 'text', required)
      .addColumn('version', 'integer', required)
      .addColumn('options', 'text', required)
      .addColumn('valid_from', 'bigint', required)
      .addPrimaryKeyConstraint('schedule_versions_pk', ['schedule', 'version'])
      .execute();
    await positionedTable(db, dialect, 'schedule_ticks')
      .addColumn('schedule', 'text', required)
      .addColumn('scheduled_for', 'bigint', required)
      .addColumn('version', 'integer', required)
      .addColumn('state', 'text', required)
      .addColumn('cause', 'text', required)
      .addColumn('reason', 'text')
      .addColumn('artifact_id', 'text')
      .addColumn('correlation_id', 'text')
      .addColumn('decided_at', 'bigint', required)
      .execute();
    await db.schema
      .createIndex('schedule_ticks_once')
      .on('schedule_ticks')
      .columns(['schedule', 'scheduled_for'])
      .unique()
      .execute();
    await db.schema
      .createIndex('schedule_ticks_by_state')
      .on('schedule_ticks')
      .columns(['schedule', 'state', 'scheduled_for'])
      .execute();
  },
};
