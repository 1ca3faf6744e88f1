import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import { throttled } from '../../common/background-work.js';
import { type Reader, UnitOfWork } from '../../database/unit-of-work.js';
import { Processes } from '../processes/processes.js';

/**
 * Executions that wait for agents that no live process has. They have no state for this: they wait like all others, and
 * run when a process with their agent claims them.
 */
@Injectable()
export class ExecutionsWithoutAgent {
  constructor(
    private readonly processes: Processes,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** The agents that such executions wait for. The value may be a moment old. */
  readonly agents = throttled(() => this.find());

  /** The number of such executions by agent. The value may be a moment old, because counting many takes long. */
  readonly counts = throttled(() => this.count());

  async count(): Promise<ReadonlyMap<string, number>> {
    const agents = await this.find();
    const counts = agents.length === 0 ? [] : await countWaiting(this.unitOfWork.reader, agents);
    return new Map(
      agents.map((agent) => [agent, counts.reduce((sum, row) => (row.agent === agent ? sum + row.count : sum), 0)]),
    );
  }

  private async find(): Promise<readonly string[]> {
    const { reader } = this.unitOfWork;
    const waitedFor = await findAgents(reader);
    if (waitedFor.length === 0) return [];
    const known = await this.processes.known();
    return waitedFor.filter((agent) => !known.hasAgent(agent)).sort();
  }
}

// The query jumps from one agent to the next in the index of the queue, so its time does not depend on how many
// executions wait. The second part reads every execution that waits for a retry, which are few.
async function findAgents(reader: Reader): Promise<string[]> {
  const { rows } = await sql<{ agent: string }>`
    with recursive waiting(agent) as (
      select min(agent) from executions where state = 'pending' and available_at is null
      union all
      select (select min(executions.agent) from executions where executions.agent > waiting.agent and state = 'pending' and available_at is null)
      from waiting where waiting.agent is not null
    )
    select agent from waiting where agent is not null
    union
    select agent from executions where state = 'pending' and available_at is not null`.execute(reader);
  return rows.map(({ agent }) => agent);
}

// Two queries, because each reads one partial index; one query for both would read the whole table.
async function countWaiting(reader: Reader, agents: readonly string[]): Promise<{ agent: string; count: number }[]> {
  const waiting = reader
    .selectFrom('executions')
    .select(['agent', ({ fn }) => fn.countAll<number>().as('count')])
    .where('state', '=', sql.lit('pending' as const))
    .where('agent', 'in', agents)
    .groupBy('agent');
  const ready = await waiting.where('available_at', 'is', null).execute();
  const retrying = await waiting.where('available_at', 'is not', null).execute();
  return [...ready, ...retrying];
}
