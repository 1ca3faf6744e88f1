/** What an expression may cost. Whatever is past a limit ends as an error result that names it. */

/** Characters of an expression. */
export const LONGEST_SOURCE = 16_384;

/** Operations within operations: parsing, planning and evaluating recurse, and the stack is finite. */
export const DEEPEST_NESTING = 250;

/** Milliseconds that one evaluation may last, waiting for its turn apart. */
export const LONGEST_EVALUATION_MS = 1_000;

/** Characters of the JSON text of what an expression reads. */
export const LARGEST_INPUT = 8 * 2 ** 20;

/** Characters of a result's JSON text. */
export const LARGEST_RESULT = 2 ** 20;

/** Values in a result, keys included: reading a megabyte of tiny values would hold the main thread beyond 10 ms. */
export const MOST_RESULT_VALUES = 20_000;

/** Megabytes of heap in an evaluation process. */
export const EVALUATION_HEAP_MB = 256;

/** Bytes in all values of type `bytes` of one evaluation: they live outside of the heap, which its limit does not see. */
export const MOST_BYTES = 32 * 2 ** 20;

export const EVALUATION_PROCESSES = 2;

/** Evaluations that wait for a process. */
export const MOST_WAITING = 10_000;
