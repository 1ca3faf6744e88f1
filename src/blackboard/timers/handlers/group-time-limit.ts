import { Injectable } from '@nestjs/common';

import { type Transaction, UnitOfWork } from '../../../database/unit-of-work.js';
import type { CorrelationChanges } from '../../correlations/correlation-tracker.js';
import { BatchWindows } from '../../joins/batch-windows.js';
import { findGroup } from '../../joins/join-group-rows.js';
import { Joins } from '../../joins/joins.js';
import { isWindow, lockKeyOf } from '../../joins/lock-keys.js';
import { SubscriptionNumbers } from '../../matching/subscription-numbers.js';
import type { Timer } from '../../scheduling/timer-rows.js';
import { type NotHere, NOTHING, type TimerHandler, type TimerWork } from '../timer-handler.js';

/** Closes a batch window, or expires a join group, whose time is up. The subject is the group's id. */
@Injectable()
export class GroupTimeLimit implements TimerHandler {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly numbers: SubscriptionNumbers,
    private readonly joins: Joins,
    private readonly windows: BatchWindows,
  ) {}

  async prepare({ subject: groupId }: Timer): Promise<TimerWork | NotHere> {
    const group = await findGroup(this.unitOfWork.reader, groupId);
    if (!group) return NOTHING;
    if (!this.numbers.find(group)) return { needs: group };
    return { lockKeys: [lockKeyOf(group)], run: (tx, changes) => this.end(tx, changes, groupId) };
  }

  private async end(tx: Transaction, changes: CorrelationChanges, groupId: string): Promise<void> {
    const group = await findGroup(tx.db, groupId);
    if (!group) return;
    if (isWindow(group)) await this.windows.close(tx, changes, group);
    else await this.joins.expire(tx, changes, group);
  }
}
