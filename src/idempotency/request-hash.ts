import { hash } from 'node:crypto';
import { isJsonObject, type JsonValue } from '../common/json.js';

/** The same for bodies that say the same, however their keys are ordered, with the same file (by its digest) or none. */
export const requestHash = (body: JsonValue | undefined, attachment = ''): string =>
  hash('sha256', canonical(body ?? null) + attachment, 'base64url');

function canonical(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key]!)}`);
  return `{${entries.join()}}`;
}
