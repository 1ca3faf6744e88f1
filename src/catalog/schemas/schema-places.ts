import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.js';
import type { Path } from '../diagnostics.js';

/** What is no schema, whatever it looks like. */
export const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required']);

/** Whose values are schemas by names of the author's. */
export const BY_NAME: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);

/** Where a schema has `pattern`: as the value of the keyword, or as a key of `patternProperties`. */
export const patternPlacesIn = (schema: JsonObject, pattern: string): Path[] =>
  subschemas(schema).flatMap(({ path, schema: { pattern: own, patternProperties: named } }) => [
    ...(own === pattern ? [[...path, 'pattern']] : []),
    ...(isJsonObject(named) && Object.hasOwn(named, pattern) ? [[...path, 'patternProperties', pattern]] : []),
  ]);

export const dynamicReferencesIn = (schema: JsonObject): Path[] =>
  subschemas(schema).flatMap(({ path, schema: { $dynamicRef: reference } }) => (typeof reference === 'string' ? [[...path, '$dynamicRef']] : []));

/** Where these parts of a schema stand in it. */
export const placesOf = (schema: JsonObject, parts: readonly unknown[]): Place[] => subschemas(schema).filter((place) => parts.includes(place.schema));

interface Place {
  path: Path;
  schema: JsonObject;
}

/** A schema with all schemas in it; what stands under an unknown keyword counts as one, since a reference may lead there. */
function subschemas(schema: JsonObject, path: Path = []): Place[] {
  const inner = Object.entries(schema)
    .filter(([keyword]) => !DATA.has(keyword))
    .flatMap(([keyword, value]) => (BY_NAME.has(keyword) && isJsonObject(value) ? entries(value, [...path, keyword]) : within(value, [...path, keyword])));
  return [{ path, schema }, ...inner];
}

const entries = (schemas: JsonObject, path: Path): Place[] => Object.entries(schemas).flatMap(([name, value]) => within(value, [...path, name]));

function within(value: JsonValue, path: Path): Place[] {
  if (Array.isArray(value)) return value.flatMap((item, position) => within(item, [...path, position]));
  return isJsonObject(value) ? subschemas(value, path) : [];
}
