import type { Catalog } from '../../catalog/catalog.js';
import type { FreeSlots } from './claims.js';

/** Counts what runs in this process against the limits of each agent and of the process. */
export class Slots {
  private readonly usedBy = new Map<string, number>();
  private used = 0;

  constructor(
    private readonly catalog: Catalog,
    private readonly total: number,
  ) {}

  take(agent: string): void {
    this.used += 1;
    this.usedBy.set(agent, (this.usedBy.get(agent) ?? 0) + 1);
  }

  release(agent: string): void {
    this.used -= 1;
    this.usedBy.set(agent, (this.usedBy.get(agent) ?? 0) - 1);
  }

  /** What is free for `agents`; those without a free slot are left out. */
  free(agents: Iterable<string>): FreeSlots {
    const total = Math.max(this.total - this.used, 0);
    const byAgent = new Map<string, number>();
    for (const agent of agents) {
      const free = (this.catalog.agent(agent)?.concurrency ?? 0) - (this.usedBy.get(agent) ?? 0);
      if (free > 0 && total > 0) byAgent.set(agent, free);
    }
    return { byAgent, total };
  }
}
