/** An answer that an outcome keeps for later executions. */
export interface KeptAnswer {
  /** See CachedAnswersTable. */
  key: string;
  /** JSON. */
  answer: string;
  forMs: number;
}

/** The id of the execution whose answer an attempt took. */
export interface TakenAnswer {
  from: string;
}

export type CacheUse = KeptAnswer | TakenAnswer;
