import { DomainError } from './domain-error.js';
import { shown } from './short-text.js';

/** Values that identify the last item of a page in the order of its list. */
export type Position = readonly (string | number)[];

type Kind = 'string' | 'number';

type Parts<Kinds extends readonly Kind[]> = { [Index in keyof Kinds]: Kinds[Index] extends 'string' ? string : number };

/** The text that clients send to get the page after this position. It is opaque to them. */
export const toCursor = (position: Position): string => Buffer.from(JSON.stringify(position)).toString('base64url');

/** Reads a text that `toCursor` may have returned. Throws DomainError `invalid` for any other text. */
export function fromCursor(after: string): Position {
  const value = parsed(after);
  if (!Array.isArray(value) || !value.every(isPart)) throw notFromEarlierPage(after);
  return value;
}

/** Reads a cursor of a list whose positions consist of values of these types. Throws as `fromCursor` does. */
export function partsOf<const Kinds extends readonly Kind[]>(after: string, kinds: Kinds): Parts<Kinds> {
  const position = fromCursor(after);
  if (!hasParts(position, kinds)) throw notFromEarlierPage(after);
  return position as Parts<Kinds>;
}

export const notFromEarlierPage = (after: string): DomainError =>
  new DomainError('invalid', `after: must be next of an earlier page with the same filters (got "${shown(after)}")`);

/** Whether a position consists of values of these types. Clients can invent cursors. */
export const hasParts = (position: Position, kinds: readonly Kind[]): boolean =>
  position.length === kinds.length && kinds.every((kind, index) => typeof position[index] === kind);

function parsed(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
}

// A database can compare these with its columns: text without NUL, and whole numbers.
const isPart = (value: unknown): value is string | number =>
  typeof value === 'string' ? !value.includes('\0') && value.isWellFormed() : Number.isSafeInteger(value);
