/** The values of `executions.replay`. */
export const NOT_REPLAYED = 0;
/** Its agent runs. */
export const RUN = 1;
/** The replay took its answer from the record. */
export const RECORDED = 2;
/** Its agent must not run, and the replay has not found its answer in the record yet, or at all. */
export const UNANSWERED = 3;
