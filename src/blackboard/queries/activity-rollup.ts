import { Injectable } from '@nestjs/common';

import { UnitOfWork } from '../../database/unit-of-work.js';
import {
  type ActivityHour,
  type ActivityRow,
  addToCounts,
  addToHours,
  deleteActivity,
  findActivity,
} from './activity-rows.js';
import { moveOn, positionOf } from './rollup-rows.js';

const STEP = 1_000;

/**
 * Adds the rows of `activity` to `activity_hours`, one row for each agent and hour, and their events to
 * `activity_counts`.
 */
@Injectable()
export class ActivityRollup {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Adds up the next `STEP` rows. Returns false when no more rows are left. */
  async step(): Promise<boolean> {
    const final = await this.unitOfWork.finalPosition('activity');
    return this.unitOfWork.run(async (tx) => {
      const from = await positionOf(tx, 'activity');
      const rows = await findActivity(tx, from, final, STEP);
      const to = rows.at(-1)?.seq;
      if (to === undefined) return false;
      if (await moveOn(tx, 'activity', { from, to })) {
        await addToHours(tx, sumByHour(rows));
        await addToCounts(tx, { from, to });
      }
      return rows.length === STEP;
    });
  }

  /**
   * Deletes up to `STEP` rows that have been rolled up. Returns false when no more are left. It does not run after each
   * step, because deleted rows slow down the next scans for a while.
   */
  clear(): Promise<boolean> {
    return this.unitOfWork.run(
      async (tx) => (await deleteActivity(tx, await positionOf(tx, 'activity'), STEP)) === STEP,
    );
  }
}

function sumByHour(rows: readonly ActivityRow[]): ActivityHour[] {
  const sums = new Map<string, ActivityHour>();
  for (const row of rows) {
    // The row only counts an event.
    if (row.event !== null && row.executions === 0) continue;
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
}: ActivityHour): ActivityHour => ({
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
