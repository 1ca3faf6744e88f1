import type { JsonObject } from '../../common/json.js';
import { GrowthLimit } from '../growth-limit.js';
import type { SchemaLookup } from './payload-schema.js';
import type { SchemaDefaults } from './schema-defaults.js';
import type { SchemaError } from './schema-errors.js';
import { placesOf } from './schema-places.js';

/** Returns the problems of defaults that never end, add too much, or are not valid where they are filled in. */
export function defaultProblems(
  schema: JsonObject,
  defaults: SchemaDefaults,
  lookup: SchemaLookup,
  bodyLimitBytes: number,
): SchemaError[] {
  const bySchema = new Map(defaults.list.map((each) => [each.schema, each]));
  return placesOf(schema, [...bySchema.keys()]).flatMap((place) => {
    const completed = defaults.complete(bySchema.get(place.schema)!, new GrowthLimit(bodyLimitBytes));
    const problems =
      'problem' in completed
        ? [{ path: [], message: completed.problem }]
        : lookup.violations(place.path, completed.value);
    return problems.map(({ path, message }) => ({ path: [...place.path, 'default', ...path], message }));
  });
}
