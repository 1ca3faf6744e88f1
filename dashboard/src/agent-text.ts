import type { Schemas } from './api/requests';

type Subscription = Schemas['SubscriptionBody'];

/** "Intent and Routing" if the agent needs both, "Intent or Routing" if it takes each. */
export function subscriptionText({ types, mode }: Subscription): string {
  const word = mode === 'all' ? 'and' : 'or';
  if (types.length < 2) return types.join('');
  return `${types.slice(0, -1).join(', ')} ${word} ${types.at(-1)!}`;
}

/** How many of an agent's executions run on all processes; undefined if no process has the agent. */
export function runningOf(name: string, processes: readonly Schemas['ProcessBody'][]): number | undefined {
  const having = processes.filter(({ agents }) => agents.includes(name));
  if (having.length === 0) return undefined;
  return having.reduce((sum, { running }) => sum + (running[name] ?? 0), 0);
}
