/**
 * A message to an evaluation process. The pieces since the last answer together form the JSON text of the variables.
 */
export interface EvaluationRequest {
  piece: string;
  /** The expression; set in the last message of a request. */
  source?: string;
}

/** A message from an evaluation process: first that it is ready, then one answer for each request. */
export type EvaluationAnswer = { ready: true } | { ok: true; text: string } | { ok: false; error: string };
