/** A pattern cannot be used. The message is the rest of a sentence that begins with the pattern. */
export class PatternError extends Error {}

export const TOO_LARGE =
  'is too large to be checked in linear time; reduce its repetitions, begin it with ^, or use maxLength';

export const TOO_LARGE_TOGETHER =
  'and the patterns before it are together too large to check in linear time; reduce repetitions, begin them with ^, or use maxLength';
