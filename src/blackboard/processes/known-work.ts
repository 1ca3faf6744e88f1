import type { SubscriptionPlace } from '../matching/subscription-rows.js';

/** The agents and subscriptions of one process. */
export interface Configured {
  /** The process. */
  id: string;
  /** Whether it runs agents, fires timers and takes over lost leases. */
  worker: boolean;
  /** Without the worker role only its external agents, because people and programs claim their work through its API. */
  agents: readonly string[];
  /** Agent → numbers of its subscriptions in which artifacts can wait. */
  subscriptions: Readonly<Record<string, readonly number[]>>;
  /** The configurations that replays may name, as `configurationKey` names them. Without the worker role none. */
  configurations: readonly string[];
  /** How many executions it may run at the same time. Null if that is unknown. */
  maxExecutions: number | null;
}

/** The agents and subscriptions of all live processes, including this one. */
export class KnownWork {
  private readonly ownAgents: ReadonlySet<string>;
  /** The agents that other processes run. */
  private readonly runElsewhere: ReadonlySet<string>;

  constructor(
    private readonly own: Configured,
    private readonly others: readonly Configured[],
  ) {
    this.ownAgents = new Set(own.agents);
    this.runElsewhere = new Set(others.flatMap(({ worker, agents }) => (worker ? agents : [])));
  }

  get isAlone(): boolean {
    return this.others.length === 0;
  }

  get processes(): number {
    return this.all.length;
  }

  /** The agents that at least one process has. */
  get agents(): Set<string> {
    return new Set(this.all.flatMap(({ agents }) => agents));
  }

  /** Whether a process has the agent and the configuration that its replay takes agents from (`configurationKey`). */
  hasAgent(name: string, configuration: string | null = null): boolean {
    return this.all.some(
      ({ agents, configurations }) =>
        agents.includes(name) && (configuration === null || configurations.includes(configuration)),
    );
  }

  /** Whether a process with the worker role has the configuration that replays take agents from. */
  hasConfiguration(key: string): boolean {
    return this.all.some(({ configurations }) => configurations.includes(key));
  }

  /** The configurations for replays with which a process can run the agent. */
  configurationsFor(agent: string): Set<string> {
    const having = this.all.filter(({ agents }) => agents.includes(agent));
    return new Set(having.flatMap(({ configurations }) => configurations));
  }

  /** The configurations for replays that other processes have and this process does not have. */
  get configurationsElsewhere(): string[] {
    const elsewhere = new Set(this.others.flatMap(({ configurations }) => configurations));
    return [...elsewhere].filter((key) => !this.own.configurations.includes(key));
  }

  /**
   * Whether a process with the worker role has the agent, so the agent's timers fire and its leases are taken
   * over.
   */
  hasWorkerOf(name: string): boolean {
    return this.workersOf(name).length > 0;
  }

  /** The processes that run the agent. */
  workersOf(name: string): Configured[] {
    return this.all.filter(({ worker, agents }) => worker && agents.includes(name));
  }

  hasSubscription({ agent, subscription }: SubscriptionPlace): boolean {
    return this.all.some(({ subscriptions }) => subscriptions[agent]?.includes(subscription) ?? false);
  }

  /** The agents that other workers have and this process does not have. */
  get agentsElsewhere(): string[] {
    return [...this.runElsewhere].filter((name) => !this.ownAgents.has(name));
  }

  runsElsewhere(agent: string): boolean {
    return this.runElsewhere.has(agent);
  }

  /** Subscriptions that other processes have and this process does not have, although it has their agents. */
  get subscriptionsElsewhere(): SubscriptionPlace[] {
    const all = this.others.flatMap(({ subscriptions }) => placesOf(subscriptions));
    return all.filter(
      ({ agent, subscription }) => this.ownAgents.has(agent) && !this.own.subscriptions[agent]?.includes(subscription),
    );
  }

  private get all(): Configured[] {
    return [this.own, ...this.others];
  }
}

const placesOf = (subscriptions: Readonly<Record<string, readonly number[]>>): SubscriptionPlace[] =>
  Object.entries(subscriptions).flatMap(([agent, numbers]) => numbers.map((subscription) => ({ agent, subscription })));
