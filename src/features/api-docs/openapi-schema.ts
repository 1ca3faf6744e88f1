import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.js';
import { pointerKey } from './schema-pointer.js';

/** Keywords that mean the same in JSON Schema and in OpenAPI 3.0. */
const COMMON = [
  'description',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'required',
  'deprecated',
];

/** Returns the reference to the component that stands for the part of the schema at `pointer`, such as `#/$defs/Line`. */
type Refer = (pointer: string) => JsonObject;

/**
 * Returns a part of a JSON Schema as an OpenAPI 3.0 schema. Everything that the part accepts is accepted: a keyword that
 * OpenAPI 3.0 does not have is left out, because the service checks the JSON Schema itself. Titles are left out, because
 * generators name types after them, and two parts may have the same; defaults, because generators require such fields.
 */
export function openApiSchema(part: JsonValue, pointer: string, refer: Refer): JsonObject {
  if (!isJsonObject(part)) return {};
  if (typeof part.$ref === 'string') return refer(part.$ref);
  return {
    ...Object.fromEntries(COMMON.filter((key) => part[key] !== undefined).map((key) => [key, part[key]!])),
    ...typeOf(part),
    ...exclusiveBounds(part),
    ...objectParts(part, pointer, refer),
    ...arrayParts(part, pointer, refer),
    ...alternatives(part, pointer, refer),
    ...(Array.isArray(part.examples) && part.examples.length > 0 && { example: part.examples[0]! }),
  };
}

/** A part with alternatives becomes a component, so that generators need not invent a name for it. */
const innerSchema = (part: JsonValue, pointer: string, refer: Refer): JsonObject =>
  isJsonObject(part) && Object.keys(alternatives(part, pointer, refer)).length > 0
    ? refer(pointer)
    : openApiSchema(part, pointer, refer);

function typeOf(part: JsonObject): JsonObject {
  const choices = part.const === undefined ? part.enum : [part.const];
  const named = [part.type ?? typesOf(choices)].flat() as string[];
  const types = named.filter((type) => type !== 'null');
  const isNullable = types.length < named.length;
  // OpenAPI 3.0 does not allow several types at one place.
  const [type] = types.length === 1 ? types : [];
  const isText = type === 'string' && Array.isArray(choices);
  return {
    ...(type !== undefined && { type }),
    ...(isNullable && type !== undefined && { nullable: true }),
    // Generators make enumerations of texts; those of other values differ from one to the next.
    ...(isText && { enum: choices.filter((choice) => isNullable || choice !== null) }),
  };
}

const typesOf = (choices: JsonValue | undefined): string[] =>
  Array.isArray(choices) ? [...new Set(choices.map((choice) => (choice === null ? 'null' : typeof choice)))] : [];

function exclusiveBounds({ exclusiveMinimum, exclusiveMaximum }: JsonObject): JsonObject {
  return {
    ...(typeof exclusiveMinimum === 'number' && { minimum: exclusiveMinimum, exclusiveMinimum: true }),
    ...(typeof exclusiveMaximum === 'number' && { maximum: exclusiveMaximum, exclusiveMaximum: true }),
  };
}

function objectParts(part: JsonObject, pointer: string, refer: Refer): JsonObject {
  const { properties, additionalProperties, patternProperties } = part;
  const others =
    isJsonObject(additionalProperties) && !patternProperties
      ? innerSchema(additionalProperties, `${pointer}/additionalProperties`, refer)
      : additionalProperties !== false || Boolean(patternProperties);
  return {
    ...(isJsonObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [
          name,
          innerSchema(one, `${pointer}/properties/${pointerKey(name)}`, refer),
        ]),
      ),
    }),
    ...(others !== true && { additionalProperties: others }),
  };
}

function arrayParts(part: JsonObject, pointer: string, refer: Refer): JsonObject {
  if (part.type !== 'array' && ![part.type].flat().includes('array')) return {};
  const isTuple = part.prefixItems !== undefined || Array.isArray(part.items);
  return { items: isTuple ? {} : innerSchema(part.items ?? {}, `${pointer}/items`, refer) };
}

/**
 * Each alternative becomes a component, so that generators need not invent a name. `oneOf` becomes `anyOf`, because
 * without the keywords that are left out, a value may fit several.
 */
function alternatives(part: JsonObject, pointer: string, refer: Refer): JsonObject {
  const given = ['allOf', 'oneOf', 'anyOf'].filter((key) => Array.isArray(part[key]) && part[key].every(isDescribed));
  const referred = given.map((key) => [
    key === 'oneOf' ? 'anyOf' : key,
    (part[key] as JsonObject[]).map((one, index) => refer(isReference(one) ? one.$ref : `${pointer}/${key}/${index}`)),
  ]);
  return Object.fromEntries(referred) as JsonObject;
}

const isReference = (part: JsonObject): part is JsonObject & { $ref: string } => typeof part.$ref === 'string';

/** An alternative such as `{ required: ['a'] }` says nothing about types, and generators make nothing useful of it. */
const isDescribed = (part: JsonValue): boolean =>
  isJsonObject(part) && (isReference(part) || part.type !== undefined || part.properties !== undefined);
