// Control characters could move the cursor or change the colours, and marks of direction could reorder the line.
const UNSAFE = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;
const UNSAFE_IN_LINES = new RegExp(`(?!\\n)${UNSAFE.source}`, 'gu');

/** Text of others as one line that changes nothing on a terminal. */
export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().replace(UNSAFE, '\ufffd');

/** Text of others that keeps its lines and changes nothing else on a terminal. */
export const safeLines = (text: string): string => text.replace(/\r\n?|\t/g, ' ').replace(UNSAFE_IN_LINES, '\ufffd');

/** The same JSON, with every character that could change something on a terminal in its escaped form. */
export const safeJson = (json: string): string =>
  json.replace(UNSAFE_IN_LINES, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
