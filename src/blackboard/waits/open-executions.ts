import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { toTimestamp } from '../../common/timestamp.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { isExternal } from '../../engines/external/external-work.js';
import { LimitWaits } from '../limits/limit-waits.js';
import type { KnownWork } from '../processes/known-work.js';
import { Processes } from '../processes/processes.js';
import { AgentPauses } from '../scheduling/agent-pauses.js';
import { countOpen, findLastFailures, findOpen, type OpenExecution, type OpenState } from './open-execution-rows.js';
import { type UsedUpLimit, UsedUpLimits } from './used-up-limits.js';
import type { WaitingExecution } from './waits.js';

type Kind = WaitingExecution['kind'];

/** The data that decides whether a pending execution of an agent may start now. */
export interface Obstacles {
  known: KnownWork;
  /** Agent → since when it is paused (epoch ms). */
  paused: ReadonlyMap<string, number>;
  usedUp: ReadonlyMap<string, UsedUpLimit>;
}

/** Says why executions of a correlation have not ended, by the data that claims use. */
@Injectable()
export class OpenExecutions {
  constructor(
    private readonly catalog: Catalog,
    private readonly processes: Processes,
    private readonly pauses: AgentPauses,
    private readonly limits: UsedUpLimits,
    private readonly limitWaits: LimitWaits,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Counts by kind, and returns what decides the kinds. Kinds without executions are left out. */
  async count(correlationId: string): Promise<{ counts: Partial<Record<Kind, number>>; obstacles: Obstacles }> {
    const rows = await countOpen(this.unitOfWork.reader, correlationId);
    const obstacles = await this.obstacles(rows);
    const counts: Partial<Record<Kind, number>> = {};
    for (const row of rows) {
      const kind = this.kindOf(row, obstacles);
      counts[kind] = (counts[kind] ?? 0) + row.count;
    }
    return { counts, obstacles };
  }

  /** Returns the first executions after a position, in the order of their creation. */
  async page(
    correlationId: string,
    obstacles: Obstacles,
    after: number,
    limit: number,
  ): Promise<{ position: number; execution: WaitingExecution }[]> {
    const { reader } = this.unitOfWork;
    const rows = await findOpen(reader, correlationId, after, limit);
    const withKinds = rows.map((row) => ({ row, kind: this.kindOf(row, obstacles) }));
    const ofKind = (wanted: Kind) => withKinds.flatMap(({ row, kind }) => (kind === wanted ? [row] : []));
    const failures = await findLastFailures(
      reader,
      ofKind('retry').map(({ id }) => id),
    );
    const limits = await this.limitWaits.texts(ofKind('limit'));
    const concurrency = await this.limits.texts(ofKind('concurrency'), obstacles.known);
    return withKinds.map(({ row, kind }) => ({
      position: row.seq,
      execution: waitingExecution(
        row,
        kind,
        sinceOf(row, kind, obstacles, failures),
        limits.get(row.id) ?? concurrency.get(row.id) ?? null,
      ),
    }));
  }

  private async obstacles(rows: readonly OpenState[]): Promise<Obstacles> {
    const known = await this.processes.known();
    const claimable = rows.filter(({ state, delayed }) => state === 'pending' && delayed === 0);
    return {
      known,
      paused: await this.pauses.all(this.unitOfWork.reader),
      usedUp: await this.limits.of([...new Set(claimable.map(({ agent }) => agent))], known),
    };
  }

  private kindOf(
    { agent, state, configuration, delayed, owned, budget, limited }: OpenState,
    { known, paused, usedUp }: Obstacles,
  ): Kind {
    if (state === 'running') return owned === 1 ? 'running' : 'held';
    if (!known.hasAgent(agent)) return 'no_process';
    if (!known.hasAgent(agent, configuration)) return 'no_configuration';
    if (paused.has(agent)) return 'paused';
    if (budget === 1) return 'budget';
    if (limited === 1) return 'limit';
    if (delayed === 1) return 'retry';
    return usedUp.get(agent) ?? (isExternal(this.catalog.agent(agent)) ? 'unclaimed' : 'ready');
  }
}

/** Since when it waits for this (epoch ms). */
function sinceOf(
  { id, agent, created_at, attempt_started_at }: OpenExecution,
  kind: Kind,
  { paused }: Obstacles,
  failures: ReadonlyMap<string, number>,
): number {
  switch (kind) {
    case 'running':
    case 'held':
      return attempt_started_at ?? created_at;
    case 'retry':
      return failures.get(id) ?? created_at;
    case 'paused':
      return Math.max(paused.get(agent)!, created_at);
    default:
      return created_at;
  }
}

const waitingExecution = (row: OpenExecution, kind: Kind, since: number, limit: string | null): WaitingExecution => ({
  kind,
  execution_id: row.id,
  agent: row.agent,
  attempt: row.attempt,
  since: toTimestamp(since),
  until: timestampOrNull(untilOf(row, kind)),
  limit,
  assignee: row.assignee,
  claimed_by: row.claimed_by,
  due_at: timestampOrNull(row.due_at),
});

function untilOf({ available_at, lease_until }: OpenExecution, kind: Kind): number | null {
  if (kind === 'retry') return available_at;
  return kind === 'held' ? lease_until : null;
}

const timestampOrNull = (time: number | null): string | null => (time === null ? null : toTimestamp(time));
