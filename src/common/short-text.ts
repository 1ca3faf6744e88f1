export const MAX_SHORT_TEXT = 255;

/** Text that an index holds: neither endless nor with characters that a database cannot store. */
export const isShortText = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && isShort(value) && !value.includes('\0') && value.isWellFormed();

/** Characters are code points, as JSON Schema counts them: each takes one unit of the length, or two. */
const isShort = (text: string): boolean => text.length <= MAX_SHORT_TEXT || (text.length <= 2 * MAX_SHORT_TEXT && [...text].length <= MAX_SHORT_TEXT);

const LONGEST_SHOWN = 200;

/** A client's text in an error about it: one of a megabyte would be answered with as much. */
export const shown = (text: string): string => (text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text);

export const SHORT_TEXT_RULE = `1 to ${MAX_SHORT_TEXT} characters of text, without NUL`;
