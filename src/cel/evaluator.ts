import type { JsonValue } from '../common/json.js';

/** The variables of every expression (docs/agents.md). */
export interface ExpressionVariables {
  /** The view of the inputs: one payload, a list of payloads, or an object keyed by type name. */
  payload: unknown;
  /** The first input. */
  artifact: unknown;
  /** All inputs. */
  inputs: unknown[];
}

/** `error` says what went wrong and where, without quoting the inputs. */
export type EvaluationResult = { ok: true; value: JsonValue } | { ok: false; error: string };

/**
 * Evaluates CEL within limits: an evaluation blocks the main thread for at most 10 ms and ends with an error result
 * after 1 s; expression-limits.ts has the others. To keep the 10 ms, code that makes a large payload must register its
 * text with `rememberText`. The variables are JSON and must not change before the result.
 *
 * Never rejects because of an expression or a payload. Rejects with a DomainError `unavailable` if this server cannot
 * evaluate now. This says nothing about the expression, and the caller should try again later.
 */
export abstract class ExpressionEvaluator {
  /** `source` must have passed `checkExpression`. */
  abstract evaluate(source: string, variables: ExpressionVariables): Promise<EvaluationResult>;
  abstract close(): Promise<void>;
}
