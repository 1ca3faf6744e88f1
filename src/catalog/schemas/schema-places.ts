import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.js';
import type { Path } from '../diagnostics.js';

/** Keywords whose values are never schemas, even if they look like one. */
export const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required']);

/** Keywords whose values are objects of schemas by names that the author chose. */
export const BY_NAME: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

/** The paths at which a schema has `pattern`: as the keyword's value or as a key of `patternProperties`. */
export const patternPlacesIn = (schema: JsonObject, pattern: string): Path[] =>
  subschemas(schema).flatMap(({ path, schema: { pattern: own, patternProperties: named } }) => [
    ...(own === pattern ? [[...path, 'pattern']] : []),
    ...(isJsonObject(named) && Object.hasOwn(named, pattern) ? [[...path, 'patternProperties', pattern]] : []),
  ]);

/** Keywords in which Ajv skips the name `__proto__`. */
const SKIPPING_PROTO = ['properties', 'patternProperties', 'dependencies'];

export const protoNamesIn = (schema: JsonObject): Path[] =>
  subschemas(schema).flatMap(({ path, schema: part }) =>
    SKIPPING_PROTO.filter((keyword) => {
      const named = Object.hasOwn(part, keyword) && part[keyword];
      return isJsonObject(named) && Object.hasOwn(named, '__proto__');
    }).map((keyword) => [...path, keyword, '__proto__']),
  );

export const dynamicReferencesIn = (schema: JsonObject): Path[] =>
  subschemas(schema).flatMap(({ path, schema: { $dynamicRef: reference } }) =>
    typeof reference === 'string' ? [[...path, '$dynamicRef']] : [],
  );

/** The paths of these parts of a schema. */
export const placesOf = (schema: JsonObject, parts: readonly unknown[]): Place[] =>
  subschemas(schema).filter((place) => parts.includes(place.schema));

/** Returns the reference to the part of a schema at this path, such as `#/properties/a`. */
export const pointerTo = (path: readonly (string | number)[]): string => ['#', ...path.map(asToken)].join('/');

const asToken = (segment: string | number): string =>
  encodeURIComponent(String(segment).replaceAll('~', '~0').replaceAll('/', '~1'));

export interface Place {
  path: Path;
  schema: JsonObject;
}

/**
 * Returns a schema and all schemas in it. A value under an unknown keyword counts as a schema, because a reference may
 * lead to it.
 */
export function subschemas(schema: JsonObject, path: Path = []): Place[] {
  const inner = Object.entries(schema)
    .filter(([keyword]) => !DATA.has(keyword))
    .flatMap(([keyword, value]) =>
      BY_NAME.has(keyword) && isJsonObject(value)
        ? entries(value, [...path, keyword])
        : within(value, [...path, keyword]),
    );
  return [{ path, schema }, ...inner];
}

const entries = (schemas: JsonObject, path: Path): Place[] =>
  Object.entries(schemas).flatMap(([name, value]) => within(value, [...path, name]));

function within(value: JsonValue, path: Path): Place[] {
  if (Array.isArray(value)) return value.flatMap((item, position) => within(item, [...path, position]));
  return isJsonObject(value) ? subschemas(value, path) : [];
}
