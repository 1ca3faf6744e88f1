import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { DomainError } from '../../common/domain-error.js';
import { scheduler } from '../../common/scheduler.js';
import { Settings } from '../../config/settings.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Processes } from '../processes/processes.js';
import { countOfKey } from './fair-key-rows.js';

const RETRY_AFTER_SECONDS = 5;
/** Counting thousands of executions at every publish would take too long. */
const RECOUNT_MS = 1_000;
/** Executions that a process accepts without another count, if there are several processes. */
const LEAST_ACCEPTED = 10;

/** An execution of an agent with `fair_by`, and its key. */
export interface KeyedExecution {
  agent: string;
  key: string;
}

interface Count {
  /** At the time of the count, and accepted by this process since. */
  waiting: number;
  /** Whether some may be counted twice, because they were being stored during the count. */
  isRough: boolean;
  /** Other processes may have accepted as many: then it is counted again. */
  countAgainAt: number;
}

/** Keeps one key of an agent with `fair_by` from using up the executions that may wait. */
@Injectable()
export class KeyShares {
  /** Each is forgotten when it is too old. */
  private readonly counts = new Map<string, Promise<Count>>();
  /** The executions of each key that are being stored, which no count has. */
  private readonly storing = new Map<string, Set<KeyedExecution>>();
  /** How many were accepted without a count in this second and in the one before. The count of all may lack them. */
  private uncounted = { now: 0, before: 0 };

  constructor(
    private readonly catalog: Catalog,
    private readonly settings: Settings,
    private readonly processes: Processes,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Whether keys of the agent have a share. */
  has(agent: string): boolean {
    return this.catalog.agent(agent)?.fairness != null;
  }

  /**
   * Calls `store`, which stores these executions. Throws DomainError `unavailable`, and stores nothing, if a key has its
   * share of the waiting executions. `waiting`: how many wait in all. As long as they are fewer than a share, the keys are
   * not counted.
   */
  async within<T>(executions: readonly KeyedExecution[], waiting: number, store: () => Promise<T>): Promise<T> {
    if (executions.length === 0) return store();
    const accepted: KeyedExecution[] = [];
    try {
      for (const each of executions) {
        await this.accept(each, waiting);
        accepted.push(each);
      }
      return await store();
    } finally {
      for (const each of accepted) this.end(each);
    }
  }

  /** Throws DomainError `unavailable` if one of these keys has its share. Nothing is counted: they queue nothing yet. */
  async refuseFull(executions: readonly KeyedExecution[], waiting: number): Promise<void> {
    for (const each of executions) if (!this.isFarBelow(each, waiting)) await this.checkShare(each, () => undefined);
  }

  private async accept(execution: KeyedExecution, waiting: number): Promise<void> {
    if (this.isFarBelow(execution, waiting)) return this.acceptUncounted(execution);
    await this.checkShare(execution, (count, most) => {
      count.waiting += 1;
      if (count.waiting >= count.countAgainAt && count.waiting < most) this.counts.delete(nameOf(execution));
      this.begin(execution);
    });
  }

  /** Whether all that wait are fewer than the share of one key. */
  private isFarBelow({ agent }: KeyedExecution, waiting: number): boolean {
    return waiting + this.uncounted.now + this.uncounted.before < this.mostOf(agent);
  }

  /** Calls `accept` in the same turn of the event loop as the check, so that no other execution is accepted in between. */
  private async checkShare(execution: KeyedExecution, accept: (count: Count, most: number) => void): Promise<void> {
    const { agent, key } = execution;
    const most = this.mostOf(agent);
    const known = this.count(execution, most);
    let count = await known;
    if (count.waiting >= most && count.isRough) {
      this.forget(execution, known);
      count = await this.count(execution, most);
    }
    if (count.waiting >= most)
      throw new DomainError(
        'unavailable',
        `${most} executions of ${agent} are waiting for the key ${key}, which is the most for one key (max_share); try again later`,
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    accept(count, most);
  }

  private acceptUncounted(execution: KeyedExecution): void {
    this.begin(execution);
    if (this.uncounted.now + this.uncounted.before === 0) scheduler.after(RECOUNT_MS, () => this.endSecond());
    this.uncounted.now += 1;
    const missed = (count: Count): void => {
      count.waiting += 1;
      count.isRough = true;
    };
    this.counts.get(nameOf(execution))?.then(missed, () => undefined);
  }

  private endSecond(): void {
    this.uncounted = { now: 0, before: this.uncounted.now };
    if (this.uncounted.before > 0) scheduler.after(RECOUNT_MS, () => this.endSecond());
  }

  private mostOf(agent: string): number {
    const { maxShare } = this.catalog.agent(agent)!.fairness!;
    return Math.max(1, Math.floor(maxShare * this.settings.maxPendingExecutions));
  }

  private count(execution: KeyedExecution, most: number): Promise<Count> {
    const name = nameOf(execution);
    const known = this.counts.get(name);
    if (known) return known;
    const count = this.read(execution, most);
    this.counts.set(name, count);
    count.catch(() => this.forget(execution, count));
    scheduler.after(RECOUNT_MS, () => this.forget(execution, count));
    return count;
  }

  private forget(execution: KeyedExecution, count: Promise<Count>): void {
    const name = nameOf(execution);
    if (this.counts.get(name) === count) this.counts.delete(name);
  }

  private async read(execution: KeyedExecution, most: number): Promise<Count> {
    const name = nameOf(execution);
    const before = [...(this.storing.get(name) ?? [])];
    const stored = await countOfKey(this.unitOfWork.reader, { ...execution, most });
    const waiting = stored + before.length;
    const { count: processes } = this.processes;
    const share = Math.max(LEAST_ACCEPTED, Math.ceil((most - waiting) / processes));
    return {
      waiting,
      isRough: before.some((each) => !this.storing.get(name)?.has(each)),
      countAgainAt: processes === 1 ? most : waiting + share,
    };
  }

  private begin(execution: KeyedExecution): void {
    const name = nameOf(execution);
    this.storing.set(name, (this.storing.get(name) ?? new Set()).add(execution));
  }

  private end(execution: KeyedExecution): void {
    const name = nameOf(execution);
    const storing = this.storing.get(name)!;
    storing.delete(execution);
    if (storing.size === 0) this.storing.delete(name);
  }
}

const nameOf = ({ agent, key }: KeyedExecution): string => JSON.stringify([agent, key]);
