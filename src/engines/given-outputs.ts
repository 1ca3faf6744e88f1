import { isJsonObject } from '../common/json.js';

/**
 * An answer from outside that lists its outputs, each `{type, payload, tags?, visibility?}`. What is in the list is checked with the
 * answer, in `blackboard/executor/outputs.ts`.
 */
export class GivenOutputs {
  constructor(readonly outputs: readonly unknown[]) {}
}

/** The body of an answer that came over HTTP: `{outputs: [...]}`, whose items all name a type, or what any engine answers. */
export function readAnswer(body: unknown): unknown {
  if (!isJsonObject(body) || Object.keys(body).length !== 1 || !Array.isArray(body.outputs)) return body;
  const namesTypes = body.outputs.every((output) => isJsonObject(output) && typeof output.type === 'string');
  return namesTypes ? new GivenOutputs(body.outputs) : body;
}
