import { type Selectable, sql } from 'kysely';

import { amongFound } from '../../database/dialects/dialect.js';
import { ACTIVITY_COLUMNS, type ActivityHoursTable } from '../../database/schema/execution-tables.js';
import type { Transaction } from '../../database/unit-of-work.js';

/** The activity of an agent in one hour. */
export type ActivityHour = Selectable<ActivityHoursTable>;

/** Finds the first rows of ended executions after a position. */
export const findActivity = (
  { db }: Transaction,
  after: number,
  upTo: number,
  limit: number,
): Promise<(ActivityHour & { seq: number })[]> =>
  db
    .selectFrom('activity')
    .select(['seq', ...ACTIVITY_COLUMNS])
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
