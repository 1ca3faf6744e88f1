import { type ArtifactType, WORKFLOW_ERROR } from '../../catalog/definitions.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.js';
import { PAYLOAD } from '../../http/dto/payload.js';
import { openApiSchema } from './openapi-schema.js';
import { keysOf, partAt } from './schema-pointer.js';

/** Schemas in the terms of OpenAPI 3.0, by the names of their components. */
export type Components = Record<string, JsonObject>;

const OPEN = { type: 'object', additionalProperties: true };

/**
 * Adds a component for the payload of each type, such as `CustomerMessagePayload`, and `Payload`, which is any of them, or
 * any object if the configuration has no types. Parts of a schema that its references lead to are components too.
 */
export function addPayloads(components: Components, types: readonly ArtifactType[]): void {
  // A type whose name has no letter of the alphabet must not take this one.
  components[PAYLOAD] = OPEN;
  const names = types.flatMap((type) => (type.schema ? [addPayload(components, type, type.schema)] : []));
  const isOpen = types.some(({ schema }) => schema === null);
  if (isOpen) names.push(add(components, 'AnyPayload', OPEN));
  const isConfigured = types.some(({ name }) => name !== WORKFLOW_ERROR);
  if (isConfigured) components[PAYLOAD] = { type: 'object', anyOf: names.map(reference) };
}

/** Adds a component for the payload of a type. Returns its name. */
export function addPayload(components: Components, { name, description }: ArtifactType, schema: JsonObject): string {
  const root = add(components, `${wordOf(name).replace(/^(?=\d)/, 'Type')}Payload`, {});
  const known = new Map([['#', root]]);
  const refer = (pointer: string): JsonObject => {
    const named = known.get(pointer);
    if (named !== undefined) return reference(named);
    const part = partAt(schema, pointer);
    if (part === undefined) return {};
    const added = add(components, nameOf(root, pointer, part), {});
    // A part may refer to itself, so its name is known before its content.
    known.set(pointer, added);
    components[added] = openApiSchema(part, pointer, refer);
    return reference(added);
  };
  const own = openApiSchema(schema, '#', refer);
  components[root] = { ...(description !== '' && { description }), ...own, type: 'object' };
  return root;
}

/** Adds a component under this name, or with a number behind it if the name is taken. Returns the name. */
function add(components: Components, wanted: string, schema: JsonObject): string {
  let name = wanted;
  for (let number = 2; name in components; number++) name = `${wanted}${number}`;
  components[name] = schema;
  return name;
}

const reference = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });

const KEYWORDS = new Set(['properties', 'items', 'additionalProperties', '$defs', 'definitions']);
const ALTERNATIVES = new Set(['allOf', 'anyOf', 'oneOf']);

/** Returns a name such as `OrderPayloadLine` for `#/$defs/Line`. An alternative is named by its title or its number. */
function nameOf(root: string, pointer: string, part: JsonValue): string {
  const keys = keysOf(pointer);
  const title = isJsonObject(part) && typeof part.title === 'string' ? wordOf(part.title) : '';
  const words = keys.map((key, index) => {
    if (KEYWORDS.has(key) || ALTERNATIVES.has(key)) return '';
    if (!ALTERNATIVES.has(keys[index - 1] ?? '')) return wordOf(key);
    return (index === keys.length - 1 && title) || `Option${Number(key) + 1}`;
  });
  return root + words.join('');
}

/** Returns a name of letters and digits that begins with a capital letter, as names of types do in most languages. */
const wordOf = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join('');
