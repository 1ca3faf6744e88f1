import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.js';
import type { ArtifactType } from '../definitions.js';
import { BY_NAME, DATA, pointerTo } from './schema-places.js';

/** Returns the JSON Schema of a type's payloads for use in another schema at `path`, without its examples. */
export function embeddedSchema({ schema, description }: ArtifactType, path: readonly (string | number)[]): JsonObject {
  const kept = Object.entries(schema ?? {}).filter(([key]) => key !== '$schema' && key !== 'examples');
  const own = { ...(description !== '' && { description }), type: 'object', ...Object.fromEntries(kept) } as JsonObject;
  return moved(own, pointerTo(path));
}

/** Makes references inside a schema start from its new position. */
function moved(schema: JsonObject, place: string): JsonObject {
  // In a part with its own id, references start at that part.
  if (typeof schema.$id === 'string') return schema;
  return mapped(schema, (value, keyword) => movedKeyword(keyword, value, place));
}

function movedKeyword(keyword: string, value: JsonValue, place: string): JsonValue {
  if (typeof value === 'string') return keyword === '$ref' && isPointer(value) ? place + value.slice(1) : value;
  if (DATA.has(keyword)) return value;
  const movedSchema = (inner: JsonValue): JsonValue => (isJsonObject(inner) ? moved(inner, place) : inner);
  if (Array.isArray(value)) return value.map(movedSchema);
  return isJsonObject(value) && BY_NAME.has(keyword) ? mapped(value, movedSchema) : movedSchema(value);
}

const isPointer = (reference: string): boolean => reference === '#' || reference.startsWith('#/');

const mapped = (object: JsonObject, change: (value: JsonValue, key: string) => JsonValue): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
