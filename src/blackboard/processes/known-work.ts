import type { SubscriptionPlace } from '../matching/subscription-numbers.js';

/** What one process has. */
export interface Configured {
  /** Whether it runs agents, fires timers and takes over what was lost. */
  worker: boolean;
  /** Of one that does not work, the external ones alone: those are worked on by people and programs that ask it. */
  agents: readonly string[];
  /** Agent → numbers of its subscriptions in which artifacts can wait; null for a process of a version that does not say it. */
  subscriptions: Readonly<Record<string, readonly number[]>> | null;
}

/** What the live processes have, this one and the others. */
export class KnownWork {
  private readonly ownAgents: ReadonlySet<string>;

  constructor(
    private readonly own: Configured,
    private readonly others: readonly Configured[],
  ) {
    this.ownAgents = new Set(own.agents);
  }

  /** Agents that any process has. */
  get agents(): Set<string> {
    return new Set(this.all.flatMap(({ agents }) => agents));
  }

  hasAgent(name: string): boolean {
    return this.all.some(({ agents }) => agents.includes(name));
  }

  /** Whether any process does what its configuration says of the agent, beside running it. */
  hasWorkerOf(name: string): boolean {
    return this.all.some(({ worker, agents }) => worker && agents.includes(name));
  }

  hasSubscription({ agent, subscription }: SubscriptionPlace): boolean {
    return this.all.some(({ subscriptions }) => subscriptions?.[agent]?.includes(subscription) ?? false);
  }

  /** Agents that other processes which work have, and this one does not. */
  get agentsElsewhere(): string[] {
    return [...new Set(this.others.flatMap(({ worker, agents }) => (worker ? agents : [])))].filter((name) => !this.ownAgents.has(name));
  }

  /** Subscriptions that other processes have, and this one does not although it has their agents. */
  get subscriptionsElsewhere(): SubscriptionPlace[] {
    const all = this.others.flatMap(({ subscriptions }) => placesOf(subscriptions ?? {}));
    return all.filter(({ agent, subscription }) => this.ownAgents.has(agent) && !this.own.subscriptions?.[agent]?.includes(subscription));
  }

  private get all(): Configured[] {
    return [this.own, ...this.others];
  }
}

const placesOf = (subscriptions: Readonly<Record<string, readonly number[]>>): SubscriptionPlace[] =>
  Object.entries(subscriptions).flatMap(([agent, numbers]) => numbers.map((subscription) => ({ agent, subscription })));
