/**
 * Up to this many types, and this many agents, each has a separate tool. A model reads every tool before each of its
 * answers, and some clients take at most forty tools.
 */
export const MAX_TOOLS_OF_A_KIND = 16;

/** Maximum number of JSON characters in one answer. No model reads more. */
export const MOST_ANSWER_CHARACTERS = 1_024 ** 2;
