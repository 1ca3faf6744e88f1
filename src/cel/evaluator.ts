import type { JsonValue } from '../common/json.js';

/** What every expression can name: see DESIGN.md, "Configuration file". */
export interface ExpressionVariables {
  /** The view of the inputs: one payload, a list of them, or an object keyed by type name. */
  payload: unknown;
  /** The first input. */
  artifact: unknown;
  /** All inputs. */
  inputs: unknown[];
}

/** `error` says what went wrong and where, and quotes nothing of the inputs. */
export type EvaluationResult = { ok: true; value: JsonValue } | { ok: false; error: string };

/**
 * Evaluates CEL within limits: no evaluation holds the main thread beyond 10 ms, and none lasts beyond 1 s (it then ends
 * with an error result); expression-limits.ts has the others. For the 10 ms, whoever makes a large payload tells its text with
 * `rememberText`. The variables are JSON and are not changed before the result.
 *
 * Never rejects for what an expression or a payload does. Rejects with a DomainError `unavailable` where this server cannot
 * evaluate now: then nothing is known of the expression, and the caller tries again later.
 */
export abstract class ExpressionEvaluator {
  /** `source` has been checked with `checkExpression` before. */
  abstract evaluate(source: string, variables: ExpressionVariables): Promise<EvaluationResult>;
  abstract close(): Promise<void>;
}
