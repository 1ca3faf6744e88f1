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

  /**
   * Returns the count of each agent. The caller has locked the agents (`claimLockKey`) and keeps the locks until its
   * claims are committed.
   */
  async count(tx: Transaction, agents: readonly string[]): Promise<number[]> {
    const known = agents.map((agent) => ({ agent, ...(this.known.get(agent) ?? { ids: [], claim: 0 }) }));
    const [still, since] = await Promise.all([
      findStillRunning(
        tx.db,
        {},
        known.flatMap(({ ids }) => ids),
      ),
      findClaimedSince(tx.db, known),
    ]);
    const running = new Set(still.map(({ id }) => id));
    const newByAgent = Map.groupBy(since, ({ agent }) => agent);
    return known.map(({ agent, ids, claim }) => {
      const claimed = newByAgent.get(agent) ?? [];
      // An execution that lost its lease and was claimed again is in both results.
      const all = new Set([...ids.filter((id) => running.has(id)), ...claimed.map(({ id }) => id)]);
      this.known.set(agent, { ids: [...all], claim: Math.max(claim, ...claimed.map((execution) => execution.claim)) });
      return all.size;
    });
  }
}
