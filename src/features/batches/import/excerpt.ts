const LONGEST = 60;

/** Quotes a value of a client's data for a message, and cuts it where it is long. */
export const excerpt = (text: string): string =>
  JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text);
