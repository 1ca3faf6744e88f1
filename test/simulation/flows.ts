import type { FairWork } from '../flow/fair-model.js';
import type { LimitedWork } from '../flow/limit-model.js';
import { LIMITED, unitsOf, WAITING, WEIGHTS } from './flow-agents.js';

/** The work for the agents of `flow-agents.ts` that clients have sent, by its correlations. */
export class Flows {
  /** Its agent. */
  readonly sent = new Map<string, string>();
  /** The correlations of what was acknowledged. */
  readonly acknowledged = new Set<string>();
  readonly limited = new Map<string, LimitedWork>();
  readonly fair = new Map<string, FairWork>();

  begin(correlation: string, agent: string, { n, key }: { n: number; key: string }): void {
    this.sent.set(correlation, agent);
    if (LIMITED[agent])
      this.limited.set(correlation, { agent, key, units: unitsOf(n), waitsForOthers: WAITING.has(agent) });
    if (agent === 'answerer') this.fair.set(correlation, { key, weight: WEIGHTS[key]! });
  }
}
