/** Limits of an expression. Exceeding one gives an error result that names the limit. */

/** Characters of an expression. */
export const LONGEST_SOURCE = 16_384;

/** Nesting of operations: parsing, planning and evaluating are recursive, and the stack is finite. */
export const DEEPEST_NESTING = 250;

/** Milliseconds that one evaluation may take, without the time in the queue. */
export const LONGEST_EVALUATION_MS = 1_000;

/** Characters of the JSON text of what an expression reads. */
export const LARGEST_INPUT = 8 * 2 ** 20;

/** Characters of a result's JSON text. */
export const LARGEST_RESULT = 2 ** 20;

/**
 * Values in a result, including keys: parsing a megabyte of tiny values would block the main thread for more than 10
 * ms.
 */
export const MOST_RESULT_VALUES = 20_000;

/** Megabytes of heap in an evaluation process. */
export const EVALUATION_HEAP_MB = 256;

/**
 * Bytes in all values of type `bytes` of one evaluation. They are outside of the heap, so the heap limit does not
 * apply.
 */
export const MOST_BYTES = 32 * 2 ** 20;

export const EVALUATION_PROCESSES = 2;

/** Evaluations that wait for a process. */
export const MOST_WAITING = 10_000;
