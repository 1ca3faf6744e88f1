import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import { findClaimedSince, findStillRunning } from './execution-rows.js';

/** The executions of an agent that ran at the last count, on all processes. */
interface Known {
  ids: string[];
  /** The newest claim at the last count. The numbers of claims increase over all processes. */
  claim: number;
}

/**
 * Counts an agent's running executions on all processes: those of the last count that still run, and those claimed
 * since. Counting all of them was rejected: while a session keeps an old snapshot, Postgres would read every execution
 * that has ended since (see ReadyRows).
 */
@Injectable()
export class RunningExecutions {
  private readonly known = new Map<string, Known>();

  forget(): void {
    this.known.clear();
  }

  /** The caller has locked the agent (`claimLockKey`) and keeps the lock until its claims are committed. */
  async count(tx: Transaction, agent: string): Promise<number> {
    const { ids, claim } = this.known.get(agent) ?? { ids: [], claim: 0 };
    const [still, since] = await Promise.all([
      findStillRunning(tx.db, {}, ids),
      findClaimedSince(tx.db, { agent, claim }),
    ]);
    // An execution that lost its lease and was claimed again is in both results.
    const running = new Set([...still, ...since].map(({ id }) => id));
    this.known.set(agent, { ids: [...running], claim: Math.max(claim, ...since.map((execution) => execution.claim)) });
    return running.size;
  }
}
