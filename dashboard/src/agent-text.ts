import type { Schemas } from './api/requests';
import { numberText } from './formats';

type Subscription = Schemas['SubscriptionBody'];

/** "Intent and Routing" if the agent needs both, "Intent or Routing" if it takes each. */
export function subscriptionText({ types, mode }: Pick<Subscription, 'types' | 'mode'>): string {
  const word = mode === 'all' ? 'and' : 'or';
  if (types.length < 2) return types.join('');
  return `${types.slice(0, -1).join(', ')} ${word} ${types.at(-1)!}`;
}

/** The kind of group in which artifacts wait before the agent runs. Undefined if each artifact triggers it alone. */
export function groupKindOf({ types, mode, window, debounce }: Subscription): 'join' | 'window' | undefined {
  if (window !== undefined || debounce !== undefined) return 'window';
  return mode === 'all' && types.length > 1 ? 'join' : undefined;
}

/** "each Intent", "Intent and Routing, joined", "Intent in windows of 25", "the last Intent" */
export function triggerText(subscription: Subscription): string {
  const types = subscriptionText(subscription);
  switch (groupKindOf(subscription)) {
    case 'join':
      return `${types}, joined`;
    case 'window':
      return subscription.window === undefined
        ? `the last ${types}`
        : `${types} in windows of ${numberText(subscription.window.size)}`;
    default:
      return `each ${types}`;
  }
}

/** How many of an agent's executions run on all processes; undefined if no process has the agent. */
export function runningOf(name: string, processes: readonly Schemas['ProcessBody'][]): number | undefined {
  const having = processes.filter(({ agents }) => agents.includes(name));
  if (having.length === 0) return undefined;
  return having.reduce((sum, { running }) => sum + (running[name] ?? 0), 0);
}
