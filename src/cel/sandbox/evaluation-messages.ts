/** To an evaluation process. The pieces since the last answer together are the JSON text of the variables. */
export interface EvaluationRequest {
  piece: string;
  /** The expression; set in the last message of a request. */
  source?: string;
}

/** From an evaluation process: that it is ready for requests, and then one answer for each. */
export type EvaluationAnswer = { ready: true } | { ok: true; text: string } | { ok: false; error: string };
