import { type NotNull, type Selectable, sql } from 'kysely';

import { amongFound } from '../../database/dialects/dialect.js';
import { prepared } from '../../database/prepared.js';
import {
  ACTIVITY_COLUMNS,
  type ActivityHoursTable,
  type ActivityTable,
} from '../../database/schema/activity-tables.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { RESOLUTIONS } from './activity-resolutions.js';

/** The activity of an agent in one hour. */
export type ActivityHour = Selectable<ActivityHoursTable>;

/** A row of `activity`, as it adds to the hours. */
export type ActivityRow = ActivityHour & Pick<Selectable<ActivityTable>, 'seq' | 'event'>;

/** Finds the first rows after a position. */
export const findActivity = ({ db }: Transaction, after: number, upTo: number, limit: number): Promise<ActivityRow[]> =>
  db
    .selectFrom('activity')
    .select(['seq', 'event', ...ACTIVITY_COLUMNS])
    .where('seq', '>', after)
    .where('seq', '<=', upTo)
    .orderBy('seq')
    .limit(limit)
    .execute();

/** Deletes the first rows up to a position. Returns how many it deleted. */
export async function deleteActivity({ db }: Transaction, upTo: number, limit: number): Promise<number> {
  const rolledUp = db.selectFrom('activity').select('seq').where('seq', '<=', upTo).orderBy('seq').limit(limit);
  const { numDeletedRows } = await db
    .deleteFrom('activity')
    .where(amongFound(db, 'seq', rolledUp))
    .executeTakeFirst();
  return Number(numDeletedRows);
}

export async function addToHours({ db }: Transaction, hours: ActivityHour[]): Promise<void> {
  if (hours.length === 0) return;
  await db
    .insertInto('activity_hours')
    .values(hours)
    .onConflict((conflict) =>
      conflict.columns(['agent', 'hour']).doUpdateSet((eb) => ({
        executions: eb('activity_hours.executions', '+', eb.ref('excluded.executions')),
        failures: eb('activity_hours.failures', '+', eb.ref('excluded.failures')),
        artifacts_consumed: eb('activity_hours.artifacts_consumed', '+', eb.ref('excluded.artifacts_consumed')),
        artifacts_produced: eb('activity_hours.artifacts_produced', '+', eb.ref('excluded.artifacts_produced')),
        input_tokens: eb('activity_hours.input_tokens', '+', eb.ref('excluded.input_tokens')),
        output_tokens: eb('activity_hours.output_tokens', '+', eb.ref('excluded.output_tokens')),
        cost: sql<number | null>`coalesce(activity_hours.cost + excluded.cost, activity_hours.cost, excluded.cost)`,
      })),
    )
    .execute();
}

/** Adds the events of the rows after `from`, up to `to`, to the counts of each resolution. */
export async function addToCounts({ db }: Transaction, range: { from: number; to: number }): Promise<void> {
  for (const add of additions) await add(db, range);
}

const additions = RESOLUTIONS.map(({ stepMs }) => {
  const step = sql.lit(stepMs);
  return prepared<{ from: number; to: number }, unknown>((db, place) =>
    db
      .insertInto('activity_counts')
      .columns(['resolution', 'start', 'agent', 'event', 'bucket', 'count'])
      .expression(
        db
          .selectFrom('activity')
          .select(({ fn }) => [
            step.as('resolution'),
            sql<number>`minute - minute % ${step}`.as('start'),
            'agent',
            'event',
            'bucket',
            fn.sum<number>('events').as('count'),
          ])
          .where('seq', '>', place('from'))
          .where('seq', '<=', place('to'))
          .where('event', 'is not', null)
          .groupBy(['start', 'agent', 'event', 'bucket'])
          .$narrowType<{ event: NotNull; bucket: NotNull }>(),
      )
      .onConflict((conflict) =>
        conflict.columns(['resolution', 'start', 'agent', 'event', 'bucket']).doUpdateSet((eb) => ({
          count: eb('activity_counts.count', '+', eb.ref('excluded.count')),
        })),
      ),
  );
});
