import { type RawBuilder, sql } from 'kysely';

import type { Reader } from '../../database/unit-of-work.js';
import { NEVER } from '../../queue/queue.js';
import { isInState } from '../../queue/state-predicate.js';
import { countReleases } from './timer-rows.js';

/**
 * Finds the agents that executions wait for. The query jumps from one agent to the next in the indexes of the queue, so
 * its time does not depend on how many executions wait. The last part reads every execution that waits for a retry,
 * which are few. Those that wait for something else than a process (a limit, a turn, their keys, an answer from the
 * record) are among them, because that may never come while no process has their agent.
 */
export async function findAwaitedAgents(db: Reader): Promise<string[]> {
  const { rows } = await sql<{ agent: string }>`
    with recursive ${jump('ready', sql`available_at is null`)},
    ${jump('held', sql`available_at is not null and available_at = ${NEVER}`)}
    select agent from ready where agent is not null
    union
    select agent from held where agent is not null
    union
    select agent from executions where state = 'pending' and available_at is not null and available_at < ${NEVER}`.execute(
    db,
  );
  return rows.map(({ agent }) => agent);
}

/** The agents of the waiting executions for which `condition` holds, as a table with this name. */
function jump(name: string, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  const table = sql.ref(name);
  const waiting = sql`select executions.agent from executions where state = 'pending' and ${condition}`;
  return sql`${table}(agent) as (
      select (${waiting} order by executions.agent limit 1)
      union all
      select (${waiting} and executions.agent > ${table}.agent order by executions.agent limit 1)
      from ${table} where ${table}.agent is not null
    )`;
}

/** Finds those of the agents that executions of these correlations wait for. */
export const findAwaitedAgentsIn = (
  db: Reader,
  correlationIds: readonly string[],
  agents: readonly string[],
): Promise<{ correlation_id: string; agent: string }[]> =>
  db
    .selectFrom('executions')
    .select(['correlation_id', 'agent'])
    .distinct()
    .where('correlation_id', 'in', correlationIds)
    .where('agent', 'in', agents)
    .where(isInState('pending'))
    .execute();

/** Counts the waiting executions of each of these agents. Agents without any are left out. */
export async function countWaitingExecutions(
  db: Reader,
  agents: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  // Makes several queries, because each reads one range of a partial index; one query for all would read the whole table.
  const ready = await countReadyExecutions(db, agents);
  const retrying = await countRetryingExecutions(db, agents);
  const blocked = await countBlockedExecutions(db, agents);
  for (const { agent, count } of [...ready, ...retrying, ...blocked])
    counts.set(agent, (counts.get(agent) ?? 0) + count);
  return counts;
}

interface AgentCount {
  agent: string;
  count: number;
}

/** Counts the executions of each of these agents that may start now. Agents without any are left out. */
export const countReadyExecutions = async (db: Reader, agents: readonly string[]): Promise<AgentCount[]> =>
  agents.length === 0 ? [] : countPending(db, agents).where('available_at', 'is', null).execute();

/** Counts the executions of each of these agents that wait for a retry. Agents without any are left out. */
export const countRetryingExecutions = async (db: Reader, agents: readonly string[]): Promise<AgentCount[]> =>
  agents.length === 0
    ? []
    : countPending(db, agents).where('available_at', 'is not', null).where('available_at', '<', NEVER).execute();

/**
 * Counts the executions of each of these agents that something other than time lets start: mostly room in a limit, a turn or a
 * breaker. Agents without any are left out.
 */
export const countBlockedExecutions = async (db: Reader, agents: readonly string[]): Promise<AgentCount[]> =>
  agents.length === 0
    ? []
    : countPending(db, agents).where('available_at', 'is not', null).where('available_at', '=', NEVER).execute();

const countPending = (db: Reader, agents: readonly string[]) =>
  db
    .selectFrom('executions')
    .select(['agent', ({ fn }) => fn.countAll<number>().as('count')])
    .where('state', '=', sql.lit('pending' as const))
    .where('agent', 'in', agents)
    .groupBy('agent');

/** The number of waiting executions of an agent that need a configuration (`configurationKey`). */
export interface ConfigurationCount extends AgentCount {
  configuration: string;
}

/** Counts the waiting executions of replays with a configuration, by agent and configuration. */
export const countWaitingByConfiguration = (db: Reader): Promise<ConfigurationCount[]> =>
  db
    .selectFrom('executions')
    .select(({ fn, ref }) => [
      'agent',
      ref('configuration').$notNull().as('configuration'),
      fn.countAll<number>().as('count'),
    ])
    .where('state', '=', sql.lit('pending' as const))
    .where('configuration', 'is not', null)
    .groupBy(['configuration', 'agent'])
    .orderBy('configuration')
    .orderBy('agent')
    .execute();

/** Executions that have not started: they may start now, they wait for a retry, or for something other than time. */
export type WaitingState = 'ready' | 'retrying' | 'blocked';

const WAITING_STATE = sql<WaitingState>`case
  when available_at is null then 'ready' when available_at < ${sql.lit(NEVER)} then 'retrying' else 'blocked'
end`;

/** Counts the waiting executions of an agent that need a configuration, by state. States without any are left out. */
export const countStatesWithConfiguration = (
  db: Reader,
  { agent, configuration }: Pick<ConfigurationCount, 'agent' | 'configuration'>,
): Promise<{ state: WaitingState; count: number }[]> =>
  db
    .selectFrom('executions')
    .select(({ fn }) => [WAITING_STATE.as('state'), fn.countAll<number>().as('count')])
    .where('state', '=', sql.lit('pending' as const))
    .where('configuration', 'is not', null)
    .where('configuration', '=', configuration)
    .where('agent', '=', agent)
    .groupBy(WAITING_STATE)
    .execute();

/** Counts the artifacts that wait in joins, in batch windows or for their release. */
export async function countWaitingArrivals(db: Reader): Promise<number> {
  const [inGroups, releases] = await Promise.all([countInGroups(db), countReleases(db)]);
  return inGroups + releases;
}

/** Counts the artifacts that wait in joins or in batch windows. */
export async function countInGroups(db: Reader): Promise<number> {
  // Summing the sizes of groups reads fewer rows than counting their members.
  const { count } = await db
    .selectFrom('join_groups')
    .select(sql<number>`coalesce(sum(size), 0)`.as('count'))
    .where('state', '=', 'waiting')
    .executeTakeFirstOrThrow();
  return Number(count);
}
