import { Ajv, type ValidateFunction } from 'ajv';

import { isJsonObject, type JsonObject } from '../../common/json.js';
import type { Remaining } from '../agent-options.js';
import type { Diagnostics, Path } from '../diagnostics.js';
import { authorWords } from '../schemas/author-words.js';
import { describeSchemaErrors, type SchemaError } from '../schemas/schema-errors.js';
import { singleCauses } from '../schemas/single-causes.js';

/**
 * Checks `value` against a `schema` of this service and returns the valid parts. The checks that follow can then find
 * all other problems in the same run, and can rely on the types of what they read. `at` precedes every path.
 */
export function validateSchema<T>(value: unknown, schema: JsonObject, at: Path, errors: Diagnostics): Remaining<T> {
  const validate = compiled(schema);
  validate(value);
  const found = withoutOutdented(describeSchemaErrors(singleCauses(validate.errors ?? []), value, authorWords), value);
  for (const { path, message } of found) {
    // An earlier problem at this path is the cause: a variable without a value is not a number either.
    if (!errors.has([...at, ...path])) errors.add([...at, ...path], message);
  }
  return found.reduce((remaining, { path }) => take(remaining, path), structuredClone(value)) as Remaining<T>;
}

/** By the text of the schema, which is equal for files that use the same options. A process reads few files. */
const validators = new Map<string, ValidateFunction>();

/** Compiling takes tenths of a second, which is too long for each request and each change of a file. */
function compiled(schema: JsonObject): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = validators.get(text);
  if (known) return known;
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    strictTypes: false,
    strictRequired: false,
    // The schemas are this service's: a test checks them, and a start would compile the schema of schemas for it.
    meta: false,
    validateSchema: false,
    // Optimizing the code takes longer than it saves in the few checks of a process.
    code: { optimize: false },
  });
  ajv.addVocabulary(['errorMessage', 'objectMessage']);
  const validate = ajv.compile(schema);
  validators.set(text, validate);
  return validate;
}

/** `agents:` without a value, followed by the agents at the same indentation, is one problem. */
function withoutOutdented(errors: SchemaError[], value: unknown): SchemaError[] {
  if (!isJsonObject(value)) return errors;
  const keys = Object.keys(value);
  const isWrong = (key: string | undefined): boolean => errors.some(({ path }) => path.length === 1 && path[0] === key);
  const empty = keys.find((key, at) => value[key] === null && isWrong(key) && isWrong(keys[at + 1]));
  if (empty === undefined) return errors;
  const message = `has no value; indent what belongs to it, such as ${keys[keys.indexOf(empty) + 1]}`;
  return errors.flatMap((error) => {
    if (error.path[0] === empty) return [{ ...error, message }];
    return error.path.length === 1 && keys.indexOf(String(error.path[0])) > keys.indexOf(empty) ? [] : [error];
  });
}

function take(value: unknown, path: Path): unknown {
  const last = path.at(-1);
  if (last === undefined) return {};
  const around = path
    .slice(0, -1)
    .reduce<unknown>((inner, segment) => (inner as Record<string, unknown> | undefined)?.[segment], value);
  if (Array.isArray(around))
    around[last as number] = undefined; // leaves a hole, so that later items keep their positions
  else if (typeof around === 'object' && around !== null) delete (around as Record<string, unknown>)[last];
  return value;
}
