import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { newId } from '../../common/ids.js';
import { Catalog } from '../../catalog/catalog.js';
import { dialectOf, locking } from '../../database/dialects/dialect.js';
import { preparedWithList } from '../../database/prepared.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { ArtifactRow } from '../artifact.js';
import { AgentPauses, claimLine } from './agent-pauses.js';
import { Backlog } from './backlog.js';
import { isInState } from './known-state.js';
import { type ReadyExecution, ReadyExecutions } from './ready-executions.js';
import { RunningExecutions } from './running-executions.js';

/** How many executions may be taken: of each agent, and in all. */
export interface FreeSlots {
  byAgent: ReadonlyMap<string, number>;
  total: number;
}

/** An execution that this process holds by a lease. */
export interface ClaimedExecution {
  id: string;
  agent: string;
  correlationId: string;
  attempt: number;
  direct: boolean;
  batch: boolean;
  /** The guard of the outcome. */
  leaseToken: string;
  /** What caused it; null where nothing was traced. */
  traceparent: string | null;
  /** In the order in which the agent sees them. */
  inputs: ArtifactRow[];
  /** How long it waited to be claimed, in ms. */
  waitedMs: number;
}

/** Claims waiting executions. The claim is committed before an engine runs, so that a crash is seen as a lost lease. */
@Injectable()
export class Claims {
  constructor(
    private readonly catalog: Catalog,
    private readonly backlog: Backlog,
    private readonly ready: ReadyExecutions,
    private readonly running: RunningExecutions,
    private readonly pauses: AgentPauses,
  ) {}

  /**
   * The claimed executions, and the agents that may have more waiting than there were slots for. `missed`: some were there, but held
   * by other transactions.
   */
  async claim(
    tx: Transaction,
    slots: FreeSlots,
    lease: { owner: string; until: number },
    now: number,
  ): Promise<{ claimed: ClaimedExecution[]; moreWaiting: string[]; missed: boolean }> {
    // Sent together, and answered in this order: first the counts, which nobody changes until the commit.
    const [free, found] = await Promise.all([
      this.freeOf(tx, slots),
      Promise.all([...slots.byAgent].map(([agent, here]) => this.ready.find(tx, agent, Math.min(here, slots.total)))),
    ]);
    const candidates = found.flatMap(({ agent, ready }) => ready.slice(0, free.get(agent)));
    const chosen = candidates.sort(byPriority).slice(0, slots.total);
    const leaseToken = newId();
    const ids = chosen.map(({ id }) => id);
    const [leased, inputs] = await Promise.all([takeLease(tx.db, { leaseToken, ...lease, now }, ids), inputsOf(tx.db, {}, ids)]);
    this.backlog.changed(tx, -leased.length);

    const ours = new Set(leased.map(({ id }) => id));
    const moreWaiting: string[] = [];
    for (const { agent, ready, isAll, take } of found) {
      const firstLeft = ready.findIndex(({ id }) => !ours.has(id));
      take(firstLeft < 0 ? ready : ready.slice(0, firstLeft), isAll && firstLeft < 0);
      // Where the limit of all processes was reached, whoever frees a slot looks again; where it is paused, whoever resumes it.
      if (free.get(agent) !== 0 && !(isAll && firstLeft < 0)) moreWaiting.push(agent);
    }
    const inputsByExecution = Map.groupBy(inputs, ({ input_of }) => input_of);
    return {
      claimed: chosen.filter(({ id }) => ours.has(id)).map((execution) => claimed(execution, leaseToken, inputsByExecution.get(execution.id) ?? [], now)),
      moreWaiting,
      missed: ours.size < chosen.length,
    };
  }

  /**
   * How many more of each agent may run, where its `concurrency` holds for all processes together; one alone counts by itself. None
   * of one that is paused.
   */
  private async freeOf(tx: Transaction, { byAgent }: FreeSlots): Promise<Map<string, number>> {
    if (dialectOf(tx.db).exclusive) return none(await this.pauses.all(tx.db));
    const agents = [...byAgent.keys()];
    // One process at a time counts what runs of an agent, and adds to it.
    const [, paused, ...counts] = await Promise.all([
      tx.lock(agents.map(claimLine)),
      this.pauses.all(tx.db),
      ...agents.map((agent) => this.running.count(tx, agent)),
    ]);
    const free = agents.map((agent, index) => [agent, Math.max((this.catalog.agent(agent)?.concurrency ?? 0) - counts[index]!, 0)] as const);
    return new Map([...free, ...none(paused)]);
  }

  /** What was remembered of earlier searches and counts may no longer hold. */
  forget(): void {
    this.ready.forget();
    this.running.forget();
  }

  /** Makes retries whose time has come claimable; the agents that have some. */
  async releaseRetries(tx: Transaction, now: number): Promise<string[]> {
    const rows = await tx.db
      .updateTable('executions')
      .set({ available_at: null })
      .where('state', '=', sql.lit('pending' as const))
      .where('available_at', 'is not', null)
      .where('available_at', '<=', now)
      .returning('agent')
      .execute();
    return [...new Set(rows.map(({ agent }) => agent))];
  }

  /** When the next retry is due (epoch ms); null where none waits. */
  async nextRetry(reader: Reader): Promise<number | null> {
    const row = await reader
      .selectFrom('executions')
      .select('available_at')
      .where('state', '=', sql.lit('pending' as const))
      .where('available_at', 'is not', null)
      .orderBy('available_at')
      .limit(1)
      .executeTakeFirst();
    return row?.available_at ?? null;
  }
}

const none = (agents: ReadonlyMap<string, unknown>): Map<string, number> => new Map([...agents.keys()].map((agent) => [agent, 0]));

/** Leaves out what has been ended since it was found, and what another transaction holds. */
const takeLease = preparedWithList<{ leaseToken: string; owner: string; until: number; now: number }, string, { id: string }>((db, place, ids) => {
  const ready = db
    .selectFrom('executions')
    .select('id')
    .where('id', 'in', ids)
    .where(isInState('pending'))
    .where('available_at', 'is', null);
  return db
    .updateTable('executions')
    .set(({ fn, ref }) => ({
      state: 'running',
      lease_token: place('leaseToken'),
      claim: dialectOf(db).nextClaim,
      lease_owner: place('owner'),
      lease_until: place('until'),
      // Of its first attempt: a repeated one begins no execution.
      started_at: fn.coalesce(ref('started_at'), place('now')),
      attempt_started_at: place('now'),
    }))
    .where('id', 'in', locking(db, ready, { wait: false }))
    .returning('id');
});

const inputsOf = preparedWithList<object, string, ArtifactRow & { input_of: string }>((db, _place, executionIds) =>
  db
    .selectFrom('execution_inputs')
    .innerJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
    .selectAll('artifacts')
    .select('execution_inputs.execution_id as input_of')
    .where('execution_inputs.execution_id', 'in', executionIds)
    .orderBy('execution_inputs.execution_id')
    .orderBy('execution_inputs.position'),
);

const claimed = (candidate: ReadyExecution, leaseToken: string, inputs: ArtifactRow[], now: number): ClaimedExecution => ({
  id: candidate.id,
  agent: candidate.agent,
  correlationId: candidate.correlation_id,
  attempt: candidate.attempt,
  direct: candidate.direct === 1,
  batch: candidate.batch === 1,
  leaseToken,
  traceparent: candidate.traceparent,
  inputs,
  waitedMs: now - candidate.created_at,
});

const byPriority = (one: ReadyExecution, other: ReadyExecution): number => other.priority - one.priority || one.seq - other.seq;
