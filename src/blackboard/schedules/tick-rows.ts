import type { Insertable, Selectable } from 'kysely';

import type { ScheduleTicksTable, TickState } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';

export type Tick = Selectable<ScheduleTicksTable>;
export type NewTick = Insertable<ScheduleTicksTable>;

/**
 * Ticks whose work may still be active. Skipped ones do not count, so that only triggers, backfills and a change of
 * `overlap` can push an active tick out of them. A backfill has as many ticks.
 */
const RECENT = 1_000;
const MOST_INSERTED = 100;

/** Makes the row of a tick that is not published when its time has come. */
export const undone = (tick: Omit<NewTick, 'cause' | 'artifact_id' | 'correlation_id'>): NewTick => ({
  ...tick,
  cause: 'time',
  artifact_id: null,
  correlation_id: null,
});

/** Stores ticks, except those that are decided already. */
export async function insertTicks({ db }: Transaction, ticks: readonly NewTick[]): Promise<void> {
  for (let start = 0; start < ticks.length; start += MOST_INSERTED)
    await db
      .insertInto('schedule_ticks')
      .values(ticks.slice(start, start + MOST_INSERTED))
      .onConflict((conflict) => conflict.columns(['schedule', 'scheduled_for']).doNothing())
      .execute();
}

/**
 * Stores a tick that is about to be published. Returns false if it has been published before. `over`: the states of an
 * earlier decision that it replaces.
 */
export async function claimTick(
  { db }: Transaction,
  tick: NewTick,
  over: readonly Exclude<TickState, 'published'>[] = [],
): Promise<boolean> {
  const { schedule, scheduled_for, ...decision } = tick;
  const inserted = await db
    .insertInto('schedule_ticks')
    .values({ schedule, scheduled_for, ...decision })
    .onConflict((conflict) => conflict.columns(['schedule', 'scheduled_for']).doNothing())
    .returning('seq')
    .executeTakeFirst();
  if (inserted) return true;
  if (over.length === 0) return false;
  const { numUpdatedRows } = await db
    .updateTable('schedule_ticks')
    .set(decision)
    .where('schedule', '=', schedule)
    .where('scheduled_for', '=', scheduled_for)
    .where('state', 'in', over)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export const findQueued = (db: Reader, schedule: string): Promise<Tick | undefined> =>
  db
    .selectFrom('schedule_ticks')
    .selectAll()
    .where('schedule', '=', schedule)
    .where('state', '=', 'queued')
    .orderBy('scheduled_for')
    .limit(1)
    .executeTakeFirst();

export async function skipQueued(
  { db }: Transaction,
  schedule: string,
  decision: Pick<NewTick, 'reason' | 'decided_at'>,
): Promise<void> {
  await db
    .updateTable('schedule_ticks')
    .set({ ...decision, state: 'skipped' })
    .where('schedule', '=', schedule)
    .where('state', '=', 'queued')
    .execute();
}

export async function countTicks(db: Reader, schedule: string, state: TickState): Promise<number> {
  const { count } = await db
    .selectFrom('schedule_ticks')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('schedule', '=', schedule)
    .where('state', '=', state)
    .executeTakeFirstOrThrow();
  return count;
}

/** A published tick, and its correlation, which is active. */
export interface ActiveTick {
  scheduledFor: number;
  correlation: string;
}

/** Returns those of the latest published ticks whose work is active. */
export const findActive = (db: Reader, schedule: string): Promise<ActiveTick[]> =>
  db
    .selectFrom((latest) =>
      latest
        .selectFrom('schedule_ticks')
        .select(['scheduled_for', 'correlation_id'])
        .where('schedule', '=', schedule)
        .where('state', '=', 'published')
        .orderBy('scheduled_for', 'desc')
        .limit(RECENT)
        .as('latest'),
    )
    .innerJoin('correlations', 'correlations.id', 'latest.correlation_id')
    .select(['latest.scheduled_for as scheduledFor', 'correlations.id as correlation'])
    .where('correlations.state', '=', 'active')
    .execute();

/** The ticks of a schedule, the latest first; `before` (epoch ms) and `state` narrow them. */
export const findTicks = (
  db: Reader,
  schedule: string,
  { before, state, limit }: { before?: number | undefined; state?: TickState | undefined; limit: number },
): Promise<Tick[]> =>
  db
    .selectFrom('schedule_ticks')
    .selectAll()
    .where('schedule', '=', schedule)
    .$if(before !== undefined, (query) => query.where('scheduled_for', '<', before!))
    .$if(state !== undefined, (query) => query.where('state', '=', state!))
    .orderBy('scheduled_for', 'desc')
    .limit(limit)
    .execute();

/** Returns those of the times that are published or queued. */
export async function findTaken(db: Reader, schedule: string, times: readonly number[]): Promise<Set<number>> {
  if (times.length === 0) return new Set();
  const rows = await db
    .selectFrom('schedule_ticks')
    .select('scheduled_for')
    .where('schedule', '=', schedule)
    .where('scheduled_for', '>=', times[0]!)
    .where('scheduled_for', '<=', times.at(-1)!)
    .where('state', 'in', ['published', 'queued'])
    .execute();
  return new Set(rows.map(({ scheduled_for }) => scheduled_for));
}
