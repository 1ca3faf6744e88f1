export const MAX_SHORT_TEXT = 255;

/** Text that an index holds: neither endless nor with characters that a database cannot store. */
export const isShortText = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && isShort(value) && !value.includes('\0') && value.isWellFormed();

/** Characters are code points, as JSON Schema counts them: each takes one unit of the length, or two. */
const isShort = (text: string): boolean => text.length <= MAX_SHORT_TEXT || (text.length <= 2 * MAX_SHORT_TEXT && [...text].length <= MAX_SHORT_TEXT);

export const SHORT_TEXT_RULE = `1 to ${MAX_SHORT_TEXT} characters of text, without NUL`;
