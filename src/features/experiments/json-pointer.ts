import { isJsonObject, type JsonValue } from '../../common/json.js';

/** RFC 6901. The empty pointer is the whole value. */
export const JSON_POINTER = '^(/([^/~]|~[01])*)*$';

/** Returns the value at the pointer; undefined if there is none. */
export function valueAt(value: JsonValue, pointer: string): JsonValue | undefined {
  const names = pointer.split('/').slice(1);
  return names.map(unescaped).reduce<JsonValue | undefined>(childOf, value);
}

const unescaped = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~');

function childOf(parent: JsonValue | undefined, name: string): JsonValue | undefined {
  if (Array.isArray(parent)) return /^(0|[1-9]\d*)$/.test(name) ? parent[Number(name)] : undefined;
  return isJsonObject(parent) && Object.hasOwn(parent, name) ? parent[name] : undefined;
}
