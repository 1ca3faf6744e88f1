/** The most characters of a key of an execution. Longer keys would make long index entries. */
export const LONGEST_KEY = 200;

/** Counts code points, which are what an author counts. A code point takes one or two units of `length`. */
export function isLongKey(key: string): boolean {
  return key.length > LONGEST_KEY && (key.length > 2 * LONGEST_KEY || [...key].length > LONGEST_KEY);
}
