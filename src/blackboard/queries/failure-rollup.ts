import { Injectable } from '@nestjs/common';

import { UnitOfWork } from '../../database/unit-of-work.js';
import {
  changeCount,
  type CountedFailures,
  deleteChanges,
  type FailureChange,
  findChanges,
  upsertGroup,
} from './failure-rollup-rows.js';
import { moveOn, positionOf } from './rollup-rows.js';

const STEP = 1_000;
const NAME = 'failure_changes';

/** Adds the rows of `failure_changes` to `failure_groups`, one row for each group. */
@Injectable()
export class FailureRollup {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Adds up the next `STEP` rows. Returns false when no more rows are left. */
  async step(): Promise<boolean> {
    const final = await this.unitOfWork.finalPosition(NAME);
    return this.unitOfWork.run(async (tx) => {
      const from = await positionOf(tx, NAME);
      const rows = await findChanges(tx, from, final, STEP);
      const to = rows.at(-1)?.seq;
      if (to === undefined) return false;
      if (!(await moveOn(tx, NAME, { from, to }))) return rows.length === STEP;
      for (const changes of Map.groupBy(rows, ({ failure_group }) => failure_group).values()) {
        const failures = failuresIn(changes);
        if (failures) await upsertGroup(tx.db, failures);
        else await changeCount(tx.db, { id: changes[0]!.failure_group, change: sumOf(changes) });
      }
      return rows.length === STEP;
    });
  }

  /** Like `ActivityRollup.clear`. */
  clear(): Promise<boolean> {
    return this.unitOfWork.run(async (tx) => (await deleteChanges(tx, await positionOf(tx, NAME), STEP)) === STEP);
  }
}

const sumOf = (changes: readonly FailureChange[]): number => changes.reduce((sum, { change }) => sum + change, 0);

/** Adds up the changes of one group. Undefined if they contain no failure. */
function failuresIn(changes: readonly FailureChange[]): CountedFailures | undefined {
  const failures = changes.filter(({ failed_at }) => failed_at !== null);
  const [first] = failures;
  if (!first) return undefined;
  const times = failures.map(({ failed_at }) => failed_at!);
  return {
    id: first.failure_group,
    agent: first.agent!,
    error_type: first.error_type!,
    message: first.message!,
    count: sumOf(changes),
    first_at: Math.min(...times),
    last_at: Math.max(...times),
  };
}
