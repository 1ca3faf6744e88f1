export const MAX_SHORT_TEXT = 255;

/** Text that a database index can hold: limited in length, and without characters that a database cannot store. */
export const isShortText = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && isShort(value) && !value.includes('\0') && value.isWellFormed();

/** Counts code points, as JSON Schema does. A code point takes one or two units of `length`. */
const isShort = (text: string): boolean =>
  text.length <= MAX_SHORT_TEXT || (text.length <= 2 * MAX_SHORT_TEXT && [...text].length <= MAX_SHORT_TEXT);

const LONGEST_SHOWN = 200;

/**
 * Shortens a client's text for an error message. Otherwise a text of a megabyte would cause an answer of a megabyte.
 */
export const shown = (text: string, longest = LONGEST_SHOWN): string =>
  text.length > longest ? `${text.slice(0, longest)}...` : text;

export const SHORT_TEXT_RULE = `1 to ${MAX_SHORT_TEXT} characters of text, without NUL`;
