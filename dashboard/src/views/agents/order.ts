import type { Schemas } from '../../api/requests';

type Agent = Schemas['AgentBody'];
type Activity = Schemas['AgentActivityBody'];

/** The values of an agent by which the columns sort. */
const SORTED: Record<string, (agent: Agent, done: Activity | undefined) => number> = {
  waiting: ({ waiting }) => waiting,
  ended: (_agent, done) => done?.ends ?? 0,
  failed: (_agent, done) => done?.failures ?? 0,
  p50: (_agent, done) => done?.duration_ms?.p50 ?? 0,
  p95: (_agent, done) => done?.duration_ms?.p95 ?? 0,
  cost: (_agent, done) => done?.usage?.cost ?? 0,
};

/** In the order of the configuration, if no column sorts them. */
export function inOrder(
  agents: readonly Agent[],
  { sort, order }: { sort: string; order: 'desc' | 'asc' },
  done: ReadonlyMap<string, Activity>,
): readonly Agent[] {
  const read = SORTED[sort];
  if (read === undefined) return agents;
  const sign = order === 'desc' ? -1 : 1;
  const valueOf = (agent: Agent): number => sign * read(agent, done.get(agent.name));
  return [...agents].sort((one, other) => valueOf(one) - valueOf(other));
}
