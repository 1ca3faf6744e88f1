import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.js';

/** The keywords whose schemas apply to the same value as the schema that has them. */
const OF_SAME_VALUE = ['if', 'then', 'else', 'not', 'allOf', 'anyOf', 'oneOf'];

/**
 * Returns what a schema says about these values. A property that none of them has may be anything, so that the result of a
 * check stays the same. A file uses few of the options that exist, and compiling the rest takes a tenth of a start. Supports
 * the keywords of the configuration's schema: no `$ref`, `patternProperties` or `prefixItems`.
 */
export function usedSchema(schema: JsonObject, values: readonly unknown[]): JsonObject {
  const { properties, additionalProperties, items } = schema;
  const known = isJsonObject(properties) ? properties : {};
  const entries = values.filter(isJsonObject).flatMap((value) => Object.entries(value));
  const used: JsonObject = { ...schema };
  if (isJsonObject(properties)) {
    const ofProperty = (name: string): unknown[] => entries.filter(([key]) => key === name).map(([, value]) => value);
    used.properties = Object.fromEntries(
      Object.entries(known).map(([name, property]) => {
        const given = ofProperty(name);
        return [name, given.length === 0 ? true : usedIn(property, given)];
      }),
    );
  }
  if (isJsonObject(additionalProperties)) {
    const others = entries.filter(([key]) => !Object.hasOwn(known, key)).map(([, value]) => value);
    used.additionalProperties = usedSchema(additionalProperties, others);
  }
  if (isJsonObject(items)) used.items = usedSchema(items, values.filter(Array.isArray).flat());
  for (const keyword of OF_SAME_VALUE)
    if (schema[keyword] !== undefined) used[keyword] = usedIn(schema[keyword], values);
  return used;
}

/** `part`: a schema, or a list of schemas. */
function usedIn(part: JsonValue, values: readonly unknown[]): JsonValue {
  if (Array.isArray(part)) return part.map((schema) => usedIn(schema, values));
  return isJsonObject(part) ? usedSchema(part, values) : part;
}
