import type { Catalog } from '../catalog/catalog.js';
import type { JsonObject } from '../common/json.js';
import { nearestName } from '../common/names-in-messages.js';
import type { AgentArtifact } from '../engines/engine.js';

/**
 * The answer of an agent that does not run: its output, or a function of its inputs that returns it. The output has the
 * forms of every engine: a payload, a list of payloads, an object keyed by type name, or null. An error that the
 * function throws is a failed attempt.
 */
export type Answer = JsonObject | JsonObject[] | null | ((inputs: AgentArtifact[]) => unknown);

/** The agents of one test that answer instead of running. */
export class Answers {
  private readonly byAgent = new Map<string, Answer>();

  constructor(
    private readonly catalog: Catalog,
    answers: Record<string, Answer>,
  ) {
    for (const [agent, answer] of Object.entries(answers)) this.set(agent, answer);
  }

  set(agent: string, answer: Answer): void {
    requireAgent(this.catalog, agent);
    this.byAgent.set(agent, answer);
  }

  has(agent: string): boolean {
    return this.byAgent.has(agent);
  }

  /** Returns the output, or a promise of it. Throws what the function of the test throws. */
  of(agent: string, inputs: AgentArtifact[]): unknown {
    const answer = this.byAgent.get(agent);
    return typeof answer === 'function' ? answer(inputs) : answer;
  }
}

/** Throws an Error that names the nearest agent if the configuration has none of this name. */
export function requireAgent(catalog: Catalog, name: string): void {
  if (catalog.agent(name)) return;
  const names = catalog.agents.map((agent) => agent.name);
  const nearest = nearestName(name, names);
  throw new Error(
    `the configuration has no agent ${name}; ${nearest ? `did you mean ${nearest}?` : `it has ${names.join(', ') || 'none'}`}`,
  );
}
