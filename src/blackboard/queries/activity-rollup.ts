import { Injectable } from '@nestjs/common';
import { type Selectable, sql } from 'kysely';

import { amongFound } from '../../database/dialects/dialect.js';
import type { ActivityHoursTable } from '../../database/schema.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { moveOn, positionOf } from './rollup-position.js';

type Hour = Selectable<ActivityHoursTable>;

const USED = ['input_tokens', 'output_tokens', 'cost'] as const;

const STEP = 1_000;

/** Adds the rows of ended executions to `activity_hours`, one row for each agent and hour. */
@Injectable()
export class ActivityRollup {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Adds up the next `STEP` rows. Returns false when no more rows are left. */
  async step(): Promise<boolean> {
    const final = await this.unitOfWork.finalPosition('activity');
    return this.unitOfWork.run(async (tx) => {
      const from = await positionOf(tx, 'activity');
      const rows = await rowsBetween(tx, from, final);
      const to = rows.at(-1)?.seq;
      if (to === undefined) return false;
      if (await moveOn(tx, 'activity', { from, to })) await addToHours(tx, sumByHour(rows));
      return rows.length === STEP;
    });
  }

  /**
   * Deletes up to `STEP` rows that have been rolled up. Returns false when no more are left. It does not run after each
   * step, because deleted rows slow down the next scans for a while.
   */
  clear(): Promise<boolean> {
    return this.unitOfWork.run(async (tx) => {
      const rolledUp = tx.db
        .selectFrom('activity')
        .select('seq')
        .where('seq', '<=', await positionOf(tx, 'activity'))
        .orderBy('seq')
        .limit(STEP);
      const { numDeletedRows } = await tx.db
        .deleteFrom('activity')
        .where(amongFound(tx.db, 'seq', rolledUp))
        .executeTakeFirst();
      return numDeletedRows === BigInt(STEP);
    });
  }
}

const rowsBetween = (tx: Transaction, from: number, to: number): Promise<(Hour & { seq: number })[]> =>
  tx.db
    .selectFrom('activity')
    .select(['seq', 'agent', 'hour', 'executions', 'failures', 'artifacts_consumed', 'artifacts_produced', ...USED])
    .where('seq', '>', from)
    .where('seq', '<=', to)
    .orderBy('seq')
    .limit(STEP)
    .execute();

function sumByHour(rows: readonly Hour[]): Hour[] {
  const sums = new Map<string, Hour>();
  for (const row of rows) {
    const name = `${row.hour} ${row.agent}`;
    const sum = sums.get(name);
    if (!sum) sums.set(name, hourOf(row));
    else {
      sum.executions += row.executions;
      sum.failures += row.failures;
      sum.artifacts_consumed += row.artifacts_consumed;
      sum.artifacts_produced += row.artifacts_produced;
      sum.input_tokens += row.input_tokens;
      sum.output_tokens += row.output_tokens;
      sum.cost = sum.cost === null && row.cost === null ? null : (sum.cost ?? 0) + (row.cost ?? 0);
    }
  }
  return [...sums.values()];
}

const hourOf = ({
  agent,
  hour,
  executions,
  failures,
  artifacts_consumed,
  artifacts_produced,
  input_tokens,
  output_tokens,
  cost,
}: Hour): Hour => ({
  agent,
  hour,
  executions,
  failures,
  artifacts_consumed,
  artifacts_produced,
  input_tokens,
  output_tokens,
  cost,
});

async function addToHours(tx: Transaction, hours: Hour[]): Promise<void> {
  await tx.db
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
