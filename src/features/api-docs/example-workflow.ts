import type { Catalog } from '../../catalog/catalog.js';
import { type AgentDefinition, type ArtifactType, WORKFLOW_ERROR } from '../../catalog/definitions.js';
import type { JsonObject } from '../../common/json.js';
import { samplePayload } from './sample-payload.js';

/** The agent and the types that the examples of the documentation show. */
export interface ExampleWorkflow {
  agent: AgentDefinition | null;
  /** The type that a client publishes. */
  type: ArtifactType;
  payload: JsonObject;
  /** The type that the agent publishes then. */
  produced: ArtifactType;
  producedPayload: JsonObject;
}

/**
 * Chooses a workflow of the catalog: preferably an agent that reacts to one type, which no agent publishes and for which
 * a payload is found. Returns null if the catalog has only built-in types.
 */
export function exampleWorkflow(catalog: Catalog): ExampleWorkflow | null {
  const own = catalog.types.filter(({ name }) => name !== WORKFLOW_ERROR);
  const published = new Set(catalog.agents.flatMap(({ outputs }) => outputs.map(({ type }) => type)));
  const reactions = catalog.agents.flatMap((agent) =>
    agent.subscriptions
      .filter(({ types }) => types.length === 1 && types[0] !== WORKFLOW_ERROR)
      .map(({ types }) => ({ agent, type: catalog.type(types[0]!)! })),
  );
  const candidates: { agent: AgentDefinition | null; type: ArtifactType }[] =
    reactions.length > 0 ? reactions : own.map((type) => ({ agent: null, type }));
  const [best] = [
    candidates.find(({ type }) => !published.has(type.name) && samplePayload(type) !== null),
    candidates.find(({ type }) => samplePayload(type) !== null),
    candidates[0],
  ].filter((candidate) => candidate !== undefined);
  if (!best) return null;
  const output = best.agent?.outputs.find(({ type }) => type !== best.type.name);
  const produced = (output && catalog.type(output.type)) ?? best.type;
  const { agent, type } = best;
  return { agent, type, payload: samplePayload(type) ?? {}, produced, producedPayload: samplePayload(produced) ?? {} };
}
