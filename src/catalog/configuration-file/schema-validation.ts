import { Ajv } from 'ajv';

import type { JsonObject } from '../../common/json.js';
import type { Remaining } from '../agent-options.js';
import type { Diagnostics, Path } from '../diagnostics.js';
import { describeSchemaErrors } from '../schemas/schema-errors.js';

/**
 * Checks `value` against a `schema` of this service and returns the valid parts. The checks that follow can then find
 * all other problems in the same run, and can rely on the types of what they read. `at` precedes every path.
 */
export function validateSchema<T>(value: unknown, schema: JsonObject, at: Path, errors: Diagnostics): Remaining<T> {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    strictTypes: false,
    strictRequired: false,
  });
  ajv.addVocabulary(['errorMessage']);
  const validate = ajv.compile(schema);
  validate(value);
  const found = describeSchemaErrors(validate.errors ?? [], value);
  for (const { path, message } of found) {
    // An earlier problem at this path is the cause: a variable without a value is not a number either.
    if (!errors.has([...at, ...path])) errors.add([...at, ...path], message);
  }
  return found.reduce((remaining, { path }) => take(remaining, path), structuredClone(value)) as Remaining<T>;
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
