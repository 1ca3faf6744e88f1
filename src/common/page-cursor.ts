/** Values that identify the last item of a page in the order of its list. */
export type Position = readonly (string | number)[];

type Kind = 'string' | 'number';

/** The text that clients send to get the page after this position. It is opaque to them. */
export const toCursor = (position: Position): string => Buffer.from(JSON.stringify(position)).toString('base64url');

/** Reads a text that `toCursor` may have returned. Returns undefined for any other text. */
export function fromCursor(text: string): Position | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(value) && value.every(isPart) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a position consists of values of these types. Clients can invent cursors. */
export const hasParts = (position: Position, kinds: readonly Kind[]): boolean =>
  position.length === kinds.length && kinds.every((kind, index) => typeof position[index] === kind);

// A database can compare these with its columns: text without NUL, and whole numbers.
const isPart = (value: unknown): value is string | number =>
  typeof value === 'string' ? !value.includes('\0') && value.isWellFormed() : Number.isSafeInteger(value);
