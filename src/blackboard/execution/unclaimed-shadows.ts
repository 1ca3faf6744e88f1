import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { Clock } from '../../common/clock.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { isExternal } from '../../engines/external/external-work.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { findWaitingShadows, leaveWaitingToRecord } from './execution-rows.js';

const AT_ONCE = 200;

/**
 * Executions of shadow replays whose agents have become external since they were queued. A claim leaves executions of
 * agents that must not run to the record, but Starling itself claims none of external agents.
 */
@Injectable()
export class UnclaimedShadows {
  constructor(
    private readonly catalog: Catalog,
    private readonly timers: TimerQueue,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Lets the record answer them. */
  async leaveToRecord(): Promise<void> {
    const agents = this.catalog.agents.filter(isExternal).map(({ name }) => name);
    let left = agents.length;
    while (left > 0) left = await this.unitOfWork.run((tx) => this.leaveSome(tx, agents));
  }

  private async leaveSome(tx: Transaction, agents: readonly string[]): Promise<number> {
    const left = await leaveWaitingToRecord(tx, await findWaitingShadows(tx, agents, AT_ONCE));
    for (const { id } of left) {
      // Its keys would make it claimable.
      await this.timers.cancel(tx, 'limits', id);
      await this.timers.set(tx, 'answer', this.clock.now(), id);
    }
    return left.length;
  }
}
