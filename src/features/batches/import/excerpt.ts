const LONGEST = 60;

/** A value of a caller's data within a message: quoted, and never at length. */
export const excerpt = (text: string): string => JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text);
