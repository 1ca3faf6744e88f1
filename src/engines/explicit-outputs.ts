import { isJsonObject, type JsonValue } from '../common/json.js';
import { unknownFields } from '../common/unknown-fields.js';
import { EngineFailure } from './engine-failure.js';

/**
 * An answer from outside that lists its outputs, each `{type, payload, tags?, visibility?}`. What is in the list is checked with the
 * answer, in `blackboard/execution/outputs.ts`.
 */
export class ExplicitOutputs {
  constructor(readonly outputs: readonly unknown[]) {}
}

/**
 * The body of an answer that came over HTTP: `{outputs: [...]}`, whose items all name a type, or what any engine answers. EngineFailure
 * where outputs with payloads stand beside other fields: taken for a payload, they would be published as one, with the visibility of that.
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
