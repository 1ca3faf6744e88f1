/** Why a pattern cannot be used: a part of a sentence about it. */
export class PatternError extends Error {}

export const TOO_LARGE = 'is too large for a check in linear time; make its repetitions smaller, begin it with ^, or use maxLength';

export const TOO_LARGE_TOGETHER = 'and those before it are too large together for a check in linear time; make their repetitions smaller, begin them with ^, or use maxLength';
