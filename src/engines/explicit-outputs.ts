import { isJsonObject, type JsonValue } from '../common/json.js';
import { unknownFields } from '../common/names-in-messages.js';
import { EngineFailure } from './engine-failure.js';

/**
 * An answer from outside that lists its outputs, each `{type, payload, tags?, visibility?}`. The items are checked
 * together with the answer, in `blackboard/execution/outputs.ts`.
 */
export class ExplicitOutputs {
  constructor(readonly outputs: readonly unknown[]) {}
}

/**
 * Reads the body of an answer that came over HTTP: `{outputs: [...]}` whose items all name a type, or any other answer
 * of an engine. Throws EngineFailure if outputs with payloads have other fields next to them: taken as a payload, they
 * would be published as one artifact with its visibility.
 */
export function readAnswer(body: unknown): unknown {
  if (!isJsonObject(body) || !Array.isArray(body.outputs) || !body.outputs.every(namesType)) return body;
  const [unknown] = unknownFields(body, ['outputs']);
  if (!unknown) return new ExplicitOutputs(body.outputs);
  if (body.outputs.length === 0 || !body.outputs.every(hasPayload)) return body;
  throw new EngineFailure('output', `${unknown.name}: ${unknown.problem}`);
}

const namesType = (output: JsonValue): boolean => isJsonObject(output) && typeof output.type === 'string';
const hasPayload = (output: JsonValue): boolean => isJsonObject(output) && isJsonObject(output.payload);
