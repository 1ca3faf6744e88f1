export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The end of an object's text that has fields before these. */
export function lastFields(fields: object): string {
  const text = JSON.stringify(fields);
  return text === '{}' ? '}' : `,${text.slice(1)}`;
}
