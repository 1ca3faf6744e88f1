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
