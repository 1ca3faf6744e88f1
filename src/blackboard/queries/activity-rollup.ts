import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { addToCounts, addToHours } from './activity-rows.js';
import { Rollup } from './rollup.js';
import type { Range } from './rollup-rows.js';

/**
 * Adds the rows of `activity` to `activity_hours`, one row for each agent and hour, and their events to
 * `activity_counts`.
 */
@Injectable()
export class ActivityRollup extends Rollup {
  constructor(unitOfWork: UnitOfWork) {
    super(unitOfWork, 'activity', 'are deleted');
  }

  protected override async add(tx: Transaction, range: Range): Promise<void> {
    await addToHours(tx.db, range);
    await addToCounts(tx.db, range);
  }
}
