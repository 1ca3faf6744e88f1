export const MAX_SHORT_TEXT = 255;

/** Text that an index holds: neither endless nor with characters that a database cannot store. */
export const isShortText = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_SHORT_TEXT && !value.includes('\0') && value.isWellFormed();

export const SHORT_TEXT_RULE = `1 to ${MAX_SHORT_TEXT} characters of text, without NUL`;
