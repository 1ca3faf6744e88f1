import type { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition, ArtifactType, Output } from '../../catalog/definitions.js';
import type { GrowthLimit } from '../../catalog/growth-limit.js';
import {
  describeVisibilityProblem,
  findTtlProblem,
  findVisibilityProblem,
  toVisibility,
} from '../../catalog/parse-visibility.js';
import type { Visibility } from '../../catalog/visibility.js';
import { rememberText } from '../../cel/language/json-text.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.js';
import { unknownFields } from '../../common/names-in-messages.js';
import { isShortText, SHORT_TEXT_RULE, shown } from '../../common/short-text.js';
import type { Settings } from '../../config/settings.js';
import { ExplicitOutputs } from '../../engines/engine-answers.js';

/** The maximum number of artifacts that one execution publishes. */
export const MAX_OUTPUTS = 1_000;
/** The same limit as for a publish. */
export const MAX_TAGS = 100;
const FIELDS_OF_OUTPUT = ['type', 'payload', 'tags', 'visibility'];

/** The longest `ttl` of a visibility and the largest payload, the same as for a publish, and the growth by defaults. */
export type OutputLimits = Pick<Settings, 'maxTtlMs' | 'bodyLimitBytes'> & { growth: GrowthLimit };

export interface CheckedOutput {
  output: Output;
  type: ArtifactType;
  payload: JsonObject;
  payloadText: string;
}

/** The engine's answer cannot be published, so the attempt fails. The message says what is wrong. */
export class OutputError extends Error {}

/**
 * Checks an engine's answer and returns the artifacts to publish. The answer is the payload itself if the agent
 * publishes one type (or a list, one artifact per element), otherwise an object keyed by type name, each value a
 * payload or a list of payloads. Null and undefined publish nothing. `ExplicitOutputs` is a list that names the type of
 * each output; only this form can have a visibility, with a `ttl` within the limit. Throws OutputError.
 */
export function checkOutputs(
  answer: unknown,
  agent: AgentDefinition,
  catalog: Catalog,
  limits: OutputLimits,
): CheckedOutput[] {
  if (answer === null || answer === undefined) return [];
  if (answer instanceof ExplicitOutputs) return checkExplicit(answer.outputs, agent, catalog, limits);
  if (agent.outputs.length === 0) throw new OutputError('the agent publishes no type, so it must answer null');
  const keyed = agent.outputs.length === 1 ? { [agent.outputs[0]!.type]: answer } : answer;
  if (!isJsonObject(keyed))
    throw new OutputError(`the answer must be an object keyed by type name (${namesOf(agent)})`);
  const unknown = Object.keys(keyed).find((name) => !agent.outputs.some(({ type }) => type === name));
  if (unknown !== undefined)
    throw new OutputError(`the answer names ${shown(unknown)}, but the agent publishes ${namesOf(agent)}`);

  const payloads = agent.outputs.flatMap((output) =>
    asList(Object.hasOwn(keyed, output.type) ? keyed[output.type] : null).map((payload) => ({ output, payload })),
  );
  refuseTooMany(payloads.length);
  return payloads.map(({ output, payload }) => checkOutput(output, payload, catalog, limits));
}

function refuseTooMany(count: number): void {
  if (count > MAX_OUTPUTS)
    throw new OutputError(`the answer has ${count} artifacts, and an execution publishes at most ${MAX_OUTPUTS}`);
}

function checkExplicit(
  given: readonly unknown[],
  agent: AgentDefinition,
  catalog: Catalog,
  limits: OutputLimits,
): CheckedOutput[] {
  refuseTooMany(given.length);
  return given.map((each, index) => {
    try {
      return checkOne(each, agent, catalog, limits);
    } catch (error) {
      throw error instanceof OutputError ? new OutputError(`outputs[${index}]${error.message}`) : error;
    }
  });
}

/**
 * `{type, payload, tags?, visibility?}`. The tags are added to those of the agent's configuration; the visibility
 * replaces it.
 */
function checkOne(given: unknown, agent: AgentDefinition, catalog: Catalog, limits: OutputLimits): CheckedOutput {
  if (!isJsonObject(given)) throw new OutputError(': must be an object with type and payload');
  const [unknown] = unknownFields(given, FIELDS_OF_OUTPUT);
  if (unknown) throw new OutputError(`.${unknown.name}: ${unknown.problem}`);
  const { type, payload, tags = [], visibility = null } = given;
  const output = agent.outputs.find((each) => each.type === type);
  if (!output)
    throw new OutputError(
      `.type: must be ${agent.outputs.length === 0 ? 'absent: the agent publishes no type' : `one of ${namesOf(agent)}`}`,
    );
  if (!Array.isArray(tags) || tags.length > MAX_TAGS || !tags.every(isShortText)) {
    throw new OutputError(`.tags: must be a list of at most ${MAX_TAGS}, each ${SHORT_TEXT_RULE}`);
  }
  const seenBy = visibility === null ? output.visibility : checkVisibility(visibility, limits);
  try {
    return checkOutput(
      { type: output.type, tags: [...new Set([...output.tags, ...tags])], visibility: seenBy },
      payload,
      catalog,
      limits,
    );
  } catch (error) {
    throw error instanceof OutputError ? new OutputError(`: ${error.message}`) : error;
  }
}

function checkVisibility(given: JsonValue, { maxTtlMs }: OutputLimits): Visibility {
  const problem = findVisibilityProblem(given) ?? findTtlProblem(toVisibility(given as JsonObject), maxTtlMs);
  if (problem !== null) throw new OutputError(`.visibility: ${describeVisibilityProblem(problem)}`);
  return toVisibility(given as JsonObject);
}

function checkOutput(
  output: Output,
  given: unknown,
  catalog: Catalog,
  { bodyLimitBytes, growth }: OutputLimits,
): CheckedOutput {
  const payloadText = asJsonText(output.type, given);
  const bytes = Buffer.byteLength(payloadText);
  if (bytes > bodyLimitBytes)
    throw new OutputError(`the payload of ${output.type} has ${bytes} bytes, and body_limit allows ${bodyLimitBytes}`);
  // The schema checks the stored JSON, and later agents see it; the engine's object may differ from it.
  const stored = JSON.parse(payloadText) as unknown;
  if (!isJsonObject(stored)) throw new OutputError(`the payload of ${output.type} must be an object`);
  const type = catalog.type(output.type)!;
  const accepted = type.accept(stored, growth);
  if ('problem' in accepted) throw new OutputError(`${output.type} refuses its payload: ${accepted.problem}`);
  const { payload } = accepted;
  const acceptedText = payload === stored ? payloadText : JSON.stringify(payload);
  rememberText(payload, acceptedText);
  return { output, type, payload, payloadText: acceptedText };
}

function asJsonText(type: string, payload: unknown): string {
  try {
    return JSON.stringify(payload) ?? 'null';
  } catch (error) {
    throw new OutputError(
      `the payload of ${type} is not JSON: ${error instanceof Error ? error.message : 'its toJSON throws'}`,
    );
  }
}

const asList = (value: unknown): unknown[] =>
  value === null || value === undefined ? [] : Array.isArray(value) ? value : [value];

const namesOf = (agent: AgentDefinition): string => agent.outputs.map(({ type }) => type).join(', ');
