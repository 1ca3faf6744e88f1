import type { ArtifactType } from '../../catalog/definitions.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.js';

/** The JSON Schema of an answer: the payload itself for one type, else an object keyed by type name of which each may be absent. */
export function answerSchema(types: readonly ArtifactType[]): JsonObject {
  if (types.length === 1) return schemaOf(types[0]!);
  const properties = types.map((type) => [type.name, moved(schemaOf(type), `#/properties/${asPointer(type.name)}`)]);
  return { type: 'object', properties: Object.fromEntries(properties) as JsonObject, additionalProperties: false };
}

function schemaOf({ schema, description }: ArtifactType): JsonObject {
  const kept = Object.entries(schema ?? {}).filter(([key]) => key !== '$schema' && key !== 'examples');
  return { ...(description !== '' && { description }), type: 'object', ...Object.fromEntries(kept) };
}

/** References inside a schema lead on from where it now stands. */
function moved(value: JsonObject, to: string): JsonObject {
  const move = (inner: JsonValue, key?: string): JsonValue => {
    if (key === '$ref' && typeof inner === 'string' && inner.startsWith('#')) return to + inner.slice(1);
    if (Array.isArray(inner)) return inner.map((item) => move(item));
    return isJsonObject(inner) ? Object.fromEntries(Object.entries(inner).map(([name, item]) => [name, move(item, name)])) : inner;
  };
  return move(value) as JsonObject;
}

const asPointer = (name: string): string => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
