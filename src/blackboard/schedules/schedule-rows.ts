import type { Selectable } from 'kysely';

import type { SchedulesTable, ScheduleVersionsTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';

export type ScheduleRow = Selectable<SchedulesTable> & Pick<ScheduleVersionsTable, 'options'>;

const withOptions = (db: Reader) =>
  db
    .selectFrom('schedules')
    .innerJoin('schedule_versions', (join) =>
      join
        .onRef('schedule_versions.schedule', '=', 'schedules.name')
        .onRef('schedule_versions.version', '=', 'schedules.version'),
    )
    .selectAll('schedules')
    .select('schedule_versions.options');

export const findSchedule = (db: Reader, name: string): Promise<ScheduleRow | undefined> =>
  withOptions(db).where('schedules.name', '=', name).executeTakeFirst();

/** All of them, in the order of their names. */
export const findSchedules = (db: Reader): Promise<ScheduleRow[]> =>
  withOptions(db).orderBy('schedules.name').execute();

/** Finds where the schedules of files come from, and those with these names. */
export const findSources = (
  db: Reader,
  names: readonly string[],
): Promise<Pick<ScheduleRow, 'name' | 'source' | 'configuration'>[]> =>
  db
    .selectFrom('schedules')
    .select(['name', 'source', 'configuration'])
    .where(({ eb, or }) => or([eb('source', '=', 'file'), ...(names.length > 0 ? [eb('name', 'in', names)] : [])]))
    .orderBy('name')
    .execute();

export async function countSchedules(db: Reader): Promise<number> {
  const { count } = await db
    .selectFrom('schedules')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertSchedule({ db }: Transaction, row: Selectable<SchedulesTable>): Promise<void> {
  await db.insertInto('schedules').values(row).execute();
}

export async function updateSchedule(
  { db }: Transaction,
  name: string,
  change: Partial<Omit<SchedulesTable, 'name'>>,
): Promise<void> {
  await db.updateTable('schedules').set(change).where('name', '=', name).execute();
}

export async function deleteSchedule({ db }: Transaction, name: string): Promise<void> {
  await db.deleteFrom('schedules').where('name', '=', name).execute();
}

/** The versions of a schedule, the oldest first. */
export const findVersions = (db: Reader, schedule: string): Promise<Selectable<ScheduleVersionsTable>[]> =>
  db.selectFrom('schedule_versions').selectAll().where('schedule', '=', schedule).orderBy('version').execute();

/** The options of a version. */
export async function findVersion(db: Reader, schedule: string, version: number): Promise<string> {
  const { options } = await db
    .selectFrom('schedule_versions')
    .select('options')
    .where('schedule', '=', schedule)
    .where('version', '=', version)
    .executeTakeFirstOrThrow();
  return options;
}

/** Returns the number of the new version. */
export async function insertVersion(
  { db }: Transaction,
  schedule: string,
  options: string,
  validFrom: number,
): Promise<number> {
  const newest = await db
    .selectFrom('schedule_versions')
    .select(({ fn }) => fn.max('version').as('version'))
    .where('schedule', '=', schedule)
    .executeTakeFirst();
  const version = (newest?.version ?? 0) + 1;
  await db
    .insertInto('schedule_versions')
    .values({ schedule, version, options, valid_from: validFrom, ended_at: null })
    .execute();
  return version;
}

/** The schedule is deleted at `now` (epoch ms). */
export async function endVersion({ db }: Transaction, schedule: string, version: number, now: number): Promise<void> {
  await db
    .updateTable('schedule_versions')
    .set({ ended_at: now })
    .where('schedule', '=', schedule)
    .where('version', '=', version)
    .execute();
}

/**
 * The version of the ticks after `position` (epoch ms), and the time of the last one that is its own: when the next version
 * was made. Null if there is none. The oldest version also has the ticks before it.
 */
export async function findVersionAt(
  db: Reader,
  schedule: string,
  position: number,
): Promise<{ version: number; options: string; validUntil: number | null }> {
  const versions = db.selectFrom('schedule_versions').selectAll().where('schedule', '=', schedule);
  const held =
    (await versions.where('valid_from', '<=', position).orderBy('version', 'desc').limit(1).executeTakeFirst()) ??
    (await versions.orderBy('version').limit(1).executeTakeFirstOrThrow());
  // After the clock was set back, a later version may begin before an earlier one.
  const next = await versions.where('version', '>', held.version).orderBy('valid_from').limit(1).executeTakeFirst();
  return { version: held.version, options: held.options, validUntil: next?.valid_from ?? null };
}
