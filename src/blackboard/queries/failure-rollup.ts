import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import {
  changeCount,
  type CountedFailures,
  type FailureChange,
  findChanges,
  upsertGroup,
} from './failure-rollup-rows.js';
import { Rollup } from './rollup.js';
import type { Range } from './rollup-rows.js';

/** Adds the rows of `failure_changes` to `failure_groups`, one row for each group. */
@Injectable()
export class FailureRollup extends Rollup {
  constructor(unitOfWork: UnitOfWork) {
    super(unitOfWork, 'failure_changes', 'are deleted');
  }

  protected override async add(tx: Transaction, range: Range): Promise<void> {
    const rows = await findChanges(tx, range);
    for (const changes of Map.groupBy(rows, ({ failure_group }) => failure_group).values()) {
      const failures = failuresIn(changes);
      if (failures) await upsertGroup(tx.db, failures);
      else await changeCount(tx.db, { id: changes[0]!.failure_group, change: sumOf(changes) });
    }
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
