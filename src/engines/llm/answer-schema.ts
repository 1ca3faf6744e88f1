import type { ArtifactType } from '../../catalog/definitions.js';
import { embeddedSchema } from '../../catalog/schemas/embedded-schema.js';
import type { JsonObject } from '../../common/json.js';

/**
 * The JSON Schema of an answer: the payload for one type, otherwise an object keyed by type name with optional
 * properties.
 */
export function answerSchema(types: readonly ArtifactType[]): JsonObject {
  if (types.length === 1) return embeddedSchema(types[0]!, []);
  const properties = types.map((type) => [type.name, embeddedSchema(type, ['properties', type.name])]);
  return { type: 'object', properties: Object.fromEntries(properties) as JsonObject, additionalProperties: false };
}
