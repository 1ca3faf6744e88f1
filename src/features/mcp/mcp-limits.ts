/**
 * How many types, and how many agents, have a tool of their own. A model reads every tool before each of its answers, and some
 * clients take no more than forty in all.
 */
export const MAX_TOOLS_OF_A_KIND = 16;

/** Characters of JSON in one answer: more than any model reads. */
export const MOST_ANSWER_CHARACTERS = 1_024 ** 2;
