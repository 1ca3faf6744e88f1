import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { breakerAgent, breakerName } from '../../catalog/limits.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { countAttempt } from './attempt-counts.js';
import { countOpen, deleteBreaker } from './breaker-rows.js';
import type { EndedAttempt } from './breaker-rule.js';
import { keyText, parseKeys } from './key-texts.js';

/** The breaker of a key that no attempt has used for so long starts again. */
const FORGOTTEN_AFTER_MS = 86_400_000;

/** An attempt of an execution that ended, with its `limit_keys`. */
export interface EndedExecutionAttempt extends Pick<EndedAttempt, 'failed' | 'now'> {
  agent: string;
  limitKeys: string | null;
  /** Null if no attempt began. */
  startedAt: number | null;
}

/** Whether an execution with these `limit_keys` may change a breaker when it ends. */
export const hasBreaker = (limitKeys: string | null): boolean =>
  limitKeys !== null && parseKeys(limitKeys).some(([name]) => breakerAgent(name) !== null);

/** The breakers of agents with `breaker`. The database has their state, so that it is the same for all processes. */
@Injectable()
export class Breakers {
  constructor(
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Records the outcome of an attempt in the transaction that stores it. For agents without a breaker, it asks the database
   * nothing.
   */
  async record(tx: Transaction, { agent, limitKeys, startedAt, ...ended }: EndedExecutionAttempt): Promise<void> {
    const rule = this.catalog.agent(agent)?.breaker;
    if (rule === undefined || limitKeys === null || startedAt === null) return;
    // Executions of replays have none, nor those that were queued before the agent had it.
    const key = parseKeys(limitKeys).find(([name]) => name === breakerName(agent));
    if (!key) return;
    const breaker_key = keyText(key);
    // The configuration no longer has it. Processes without the agent go by the row, and would let one start at a time.
    if (rule === null) return void (await deleteBreaker(tx.db, { breaker_key }));
    const counter = { key: breaker_key, agent, variant: null, forgottenAfterMs: FORGOTTEN_AFTER_MS };
    await countAttempt(tx, counter, rule, { ...ended, startedAt });
  }

  /** Agent with a breaker → how many of its breakers are open or half-open. */
  async open(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>(
      this.catalog.agents.flatMap(({ name, breaker }) => (breaker ? [[name, 0] as const] : [])),
    );
    if (counts.size === 0) return counts;
    // Other processes may have agents that this one does not have.
    for (const { agent, count } of await countOpen(this.unitOfWork.reader))
      if (counts.has(agent)) counts.set(agent, Number(count));
    return counts;
  }
}
