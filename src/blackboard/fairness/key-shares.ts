import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { DomainError } from '../../common/domain-error.js';
import { scheduler } from '../../common/scheduler.js';
import { Settings } from '../../config/settings.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { countOfKey } from './fair-key-rows.js';

const RETRY_AFTER_SECONDS = 5;
/** Counting thousands of executions at every publish would take too long. */
const RECOUNT_MS = 1_000;

interface Count {
  waiting: number;
}

/** Keeps one key of an agent with `fair_by` from using up the executions that may wait. */
@Injectable()
export class KeyShares {
  /** Each is forgotten when it is too old. */
  private readonly counts = new Map<string, Count>();

  constructor(
    private readonly catalog: Catalog,
    private readonly settings: Settings,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Throws DomainError `unavailable` if the key has its share of the waiting executions. `waiting`: how many wait in
   * all. As long as they are fewer than a share, the keys are not counted.
   */
  async refuseExcess(agent: string, key: string, waiting: number): Promise<void> {
    const most = this.mostOf(agent);
    if (waiting < most) return;
    const count = await this.count(agent, key, most);
    if (count.waiting >= most)
      throw new DomainError(
        'unavailable',
        `${most} executions of ${agent} are waiting for the key ${key}, which is the most for one key (max_share); try again later`,
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    count.waiting += 1;
  }

  /** Whether any key of the agent may have its share. `waiting`: how many executions wait in all. */
  mayRefuse(agent: string, waiting: number): boolean {
    return waiting >= this.mostOf(agent);
  }

  /** Infinity for an agent without `fair_by`. */
  private mostOf(agent: string): number {
    const fairness = this.catalog.agent(agent)?.fairness;
    if (!fairness) return Infinity;
    return Math.max(1, Math.floor(fairness.maxShare * this.settings.maxPendingExecutions));
  }

  private async count(agent: string, key: string, most: number): Promise<Count> {
    const name = JSON.stringify([agent, key]);
    const known = this.counts.get(name);
    if (known) return known;
    const count = { waiting: await countOfKey(this.unitOfWork.reader, { agent, key, most }) };
    this.counts.set(name, count);
    scheduler.after(RECOUNT_MS, () => this.counts.delete(name));
    return count;
  }
}
