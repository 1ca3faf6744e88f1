import type { AgentArtifact } from '../../engines/engine.js';

/**
 * The form in which engines and expressions see an execution's inputs: the payload for one artifact, a list of payloads
 * for a batch window, an object keyed by type name for a join.
 */
export function inputView(artifacts: readonly Pick<AgentArtifact, 'type' | 'payload'>[], batch: boolean): unknown {
  if (batch) return artifacts.map(({ payload }) => payload);
  if (artifacts.length === 1) return artifacts[0]!.payload;
  return Object.fromEntries(artifacts.map(({ type, payload }) => [type, payload]));
}
