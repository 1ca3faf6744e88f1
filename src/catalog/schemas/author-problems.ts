import { isJsonObject, type JsonObject } from '../../common/json.js';
import { nearestName } from '../../common/names-in-messages.js';
import type { SchemaLookup } from './payload-schema.js';
import type { SchemaError } from './schema-errors.js';
import { type Place, subschemas } from './schema-places.js';

export interface AuthorProblem extends SchemaError {
  /** True if payloads can be valid all the same. */
  warning: boolean;
}

/**
 * Finds what a valid schema probably does not mean: required names that it does not describe, and examples that it
 * refuses.
 */
export const authorProblems = (schema: JsonObject, lookup: SchemaLookup): AuthorProblem[] =>
  subschemas(schema).flatMap((place) => [...requiredProblems(place, lookup), ...refusedExamples(place, lookup)]);

function requiredProblems({ path, schema }: Place, lookup: SchemaLookup): AuthorProblem[] {
  const { required, properties, patternProperties = {}, additionalProperties } = schema;
  if (!Array.isArray(required) || !isJsonObject(properties) || !isJsonObject(patternProperties)) return [];
  const names = Object.keys(properties);
  const patterns = Object.keys(patternProperties);
  return required.flatMap((name, position) => {
    if (typeof name !== 'string' || names.includes(name)) return [];
    if (patterns.some((pattern) => lookup.pattern(pattern).test(name))) return [];
    const nearest = nearestName(name, names);
    const isClosed = additionalProperties === false;
    if (!isClosed && nearest === undefined) return [];
    const problem = isClosed
      ? 'is not in properties, so additionalProperties: false forbids what required asks for'
      : 'is not in properties';
    const advice = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    return [{ path: [...path, 'required', position], message: `${name} ${problem}${advice}`, warning: !isClosed }];
  });
}

/** The first problem of each example, because the others often follow from it. */
function refusedExamples({ path, schema: { examples } }: Place, lookup: SchemaLookup): AuthorProblem[] {
  if (!Array.isArray(examples)) return [];
  return examples.flatMap((example, position) => {
    const [first] = lookup.violations(path, example);
    if (first === undefined) return [];
    const message = `${first.message}; the schema refuses this example`;
    return [{ path: [...path, 'examples', position, ...first.path], message, warning: true }];
  });
}
