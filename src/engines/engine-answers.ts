import { isJsonObject, type JsonValue } from '../common/json.js';
import { unknownFields } from '../common/names-in-messages.js';

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

/**
 * An engine returns this if its partner has accepted the inputs and will send the outputs later, under the lease it
 * received (`EngineContext.leaseToken`). Until then no process runs the execution, and no restart repeats it before the
 * agent's `timeout`.
 */
export class DeferredCompletion {}

/** The cause of a failure. The WorkflowError has it as its `error_type`. */
type EngineFailureType = 'http' | 'network' | 'rate_limit' | 'model' | 'refusal' | 'output' | 'tool' | 'budget';

/** An attempt got no usable answer from the system that the engine called. */
export class EngineFailure extends Error {
  /** True if another attempt would fail in the same way. */
  readonly isFinal: boolean;
  /** Milliseconds from now before which another attempt would fail in the same way. */
  readonly retryAfterMs: number | undefined;

  constructor(
    type: EngineFailureType,
    message: string,
    { isFinal = false, retryAfterMs }: { isFinal?: boolean; retryAfterMs?: number } = {},
  ) {
    super(message);
    this.name = type;
    this.isFinal = isFinal;
    this.retryAfterMs = retryAfterMs;
  }
}
