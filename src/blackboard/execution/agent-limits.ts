import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Catalog } from '../../catalog/catalog.js';
import { dialectOf } from '../../database/dialects/dialect.js';
import { prepared } from '../../database/prepared.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { mayRunOutside } from '../../engines/external/external-work.js';
import { AgentPauses, claimLockKey } from './agent-pauses.js';
import { RunningExecutions } from './running-executions.js';

/** How many more executions of an agent may run: its `concurrency` holds for all processes together, and nothing runs of one that is paused. */
@Injectable()
export class AgentLimits {
  constructor(
    private readonly catalog: Catalog,
    private readonly running: RunningExecutions,
    private readonly pauses: AgentPauses,
  ) {}

  /**
   * By agent; nobody else changes it until the transaction ends. A process that has the database alone counts by itself what it runs,
   * and finds here only what may be held outside.
   */
  async free(tx: Transaction, agents: readonly string[]): Promise<Map<string, number>> {
    const counted = dialectOf(tx.db).exclusive ? agents.filter((agent) => mayRunOutside(this.catalog.agent(agent))) : agents;
    const [, paused, ...counts] = await Promise.all([
      tx.lock(counted.map(claimLockKey)),
      this.pauses.all(tx.db),
      ...counted.map((agent) => this.count(tx, agent)),
    ]);
    const free = counted.map((agent, index) => [agent, Math.max((this.catalog.agent(agent)?.concurrency ?? 0) - counts[index]!, 0)] as const);
    return new Map([...free, ...none(paused)]);
  }

  /** Why no more of it may run now, as `free` has found; null where more may. */
  async whyNone(tx: Transaction, agent: string): Promise<string | null> {
    if ((await this.pauses.all(tx.db)).has(agent)) return `${agent} is paused`;
    if ((await this.free(tx, [agent])).get(agent) !== 0) return null;
    return `as many executions of ${agent} are held as its concurrency allows (${this.catalog.agent(agent)?.concurrency ?? 0})`;
  }

  /** What was remembered of earlier counts may no longer hold. */
  forget(): void {
    this.running.forget();
  }

  private async count(tx: Transaction, agent: string): Promise<number> {
    if (!dialectOf(tx.db).exclusive) return this.running.count(tx, agent);
    const [running] = await countRunning(tx.db, { agent });
    return running!.count;
  }
}

const none = (agents: ReadonlyMap<string, unknown>): Map<string, number> => new Map([...agents.keys()].map((agent) => [agent, 0]));

const countRunning = prepared<{ agent: string }, { count: number }>((db, place) =>
  db
    .selectFrom('executions')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('state', '=', sql.lit('running' as const))
    .where('agent', '=', place('agent')),
);
