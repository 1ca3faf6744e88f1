import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { throttled } from '../../common/throttled.js';
import { type Reader, UnitOfWork } from '../../database/unit-of-work.js';
import { Processes } from '../processes/processes.js';

/**
 * Executions that wait for agents that no live process has. No state of theirs says so: they wait like any other, and run when a process
 * with their agent claims them.
 */
@Injectable()
export class ExecutionsWithoutAgent {
  constructor(
    private readonly processes: Processes,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** The agents that such executions wait for, as of a moment ago. */
  readonly agents = throttled(() => this.find());

  /** How many wait for each of these agents, as of a moment ago; counting takes the longer the more there are. */
  readonly counts = throttled(() => this.count());

  async count(): Promise<ReadonlyMap<string, number>> {
    const agents = await this.find();
    const counts = agents.length === 0 ? [] : await countWaiting(this.unitOfWork.reader, agents);
    return new Map(agents.map((agent) => [agent, counts.reduce((sum, row) => (row.agent === agent ? sum + row.count : sum), 0)]));
  }

  private async find(): Promise<readonly string[]> {
    const { reader } = this.unitOfWork;
    const waitedFor = await findAgents(reader);
    if (waitedFor.length === 0) return [];
    const known = await this.processes.known();
    return waitedFor.filter((agent) => !known.hasAgent(agent)).sort();
  }
}

/** In the index that they are claimed by, from one agent to the next, however many wait for each of them; few wait for a retry. */
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

/** Two counts, since each reads its partial index and one over both would read the whole table. */
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
