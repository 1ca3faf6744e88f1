import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { newId } from '../../common/ids.js';
import { Catalog } from '../../catalog/catalog.js';
import { dialectOf } from '../../database/dialects/dialect.js';
import { preparedWithList } from '../../database/prepared.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { ArtifactRow } from '../artifact.js';
import { Backlog } from './backlog.js';
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
  ) {}

  /** The claimed executions, and the agents that may have more waiting than there were slots for. */
  async claim(
    tx: Transaction,
    slots: FreeSlots,
    lease: { owner: string; until: number },
    now: number,
  ): Promise<{ claimed: ClaimedExecution[]; moreWaiting: string[] }> {
    const candidates: ReadyExecution[] = [];
    const moreWaiting = new Set<string>();
    const limits = [...(await this.limits(tx, slots))].filter(([, limit]) => limit > 0);
    const found = await Promise.all(limits.map(([agent, limit]) => this.ready.find(tx, agent, limit)));
    for (const [index, { agent, ready }] of found.entries()) {
      candidates.push(...ready);
      if (ready.length === limits[index]![1]) moreWaiting.add(agent);
    }
    const chosen = candidates.sort(byPriority).slice(0, slots.total);
    candidates.slice(slots.total).forEach(({ agent }) => moreWaiting.add(agent));
    for (const { agent, take } of found) take(chosen.filter((execution) => execution.agent === agent), !moreWaiting.has(agent));
    if (chosen.length === 0) return { claimed: [], moreWaiting: [...moreWaiting] };

    const leaseToken = newId();
    const ids = chosen.map(({ id }) => id);
    await takeLease(tx.db, { leaseToken, ...lease, now }, ids);
    this.backlog.changed(tx, -ids.length);
    const inputs = Map.groupBy(await inputsOf(tx.db, {}, ids), ({ input_of }) => input_of);
    return {
      claimed: chosen.map((candidate) => claimed(candidate, leaseToken, inputs.get(candidate.id) ?? [], now)),
      moreWaiting: [...moreWaiting],
    };
  }

  /** How many of each agent may be taken, where its `concurrency` holds for all processes together. */
  private async limits(tx: Transaction, { byAgent, total }: FreeSlots): Promise<Map<string, number>> {
    const here = new Map([...byAgent].map(([agent, free]) => [agent, Math.min(free, total)]));
    if (dialectOf(tx.db).exclusive) return here;
    // One process at a time counts what runs of an agent, and adds to it.
    const agents = [...byAgent.keys()];
    await tx.lock(agents.map((agent) => `claim ${agent}`));
    const counts = await Promise.all(agents.map((agent) => this.running.count(tx, agent)));
    for (const [index, agent] of agents.entries()) {
      const concurrency = this.catalog.agent(agent)?.concurrency ?? 0;
      here.set(agent, Math.min(here.get(agent)!, Math.max(concurrency - counts[index]!, 0)));
    }
    return here;
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

const takeLease = preparedWithList<{ leaseToken: string; owner: string; until: number; now: number }, string, unknown>((db, place, ids) =>
  db
    .updateTable('executions')
    .set(({ fn, ref }) => ({
      state: 'running',
      lease_token: place('leaseToken'),
      claim: dialectOf(db).nextClaim,
      lease_owner: place('owner'),
      lease_until: place('until'),
      // Of its first attempt: a repeated one begins no execution.
      started_at: fn.coalesce(ref('started_at'), place('now')),
    }))
    .where('id', 'in', ids),
);

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
  inputs,
  waitedMs: now - candidate.created_at,
});

const byPriority = (one: ReadyExecution, other: ReadyExecution): number => other.priority - one.priority || one.seq - other.seq;
