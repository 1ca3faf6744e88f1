export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The text of `fields` as the end of an object that already has other fields before them. */
export function lastFields(fields: object): string {
  const text = JSON.stringify(fields);
  return text === '{}' ? '}' : `,${text.slice(1)}`;
}

/** Returns the same text for equal values: keys are sorted, and numbers are written as JavaScript writes them. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key]!)}`);
  return `{${entries.join()}}`;
}
