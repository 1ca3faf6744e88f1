import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.js';

/** Returns the part of a schema that a reference such as `#/$defs/Line` leads to. */
export function partAt(schema: JsonObject, pointer: string): JsonValue | undefined {
  let part: JsonValue | undefined = schema;
  for (const key of keysOf(pointer)) {
    if (Array.isArray(part)) part = part[Number(key)];
    else part = isJsonObject(part) && Object.hasOwn(part, key) ? part[key] : undefined;
  }
  return pointer.startsWith('#') ? part : undefined;
}

/** The keys on the way of a pointer, decoded (RFC 6901, section 6). */
export const keysOf = (pointer: string): string[] => pointer.split('/').slice(1).map(decoded);

export const pointerKey = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

function decoded(token: string): string {
  const plain = token.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}
