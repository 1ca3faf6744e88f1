import { compiled, type EvaluationResult } from './language/expression-program.js';
import { EvaluationProcesses } from './sandbox/evaluation-processes.js';

/** The variables of every expression (docs/agents.md). */
export interface ExpressionVariables {
  /** The view of the inputs: one payload, a list of payloads, or an object keyed by type name. */
  payload: unknown;
  /** The first input. */
  artifact: unknown;
  /** All inputs. */
  inputs: unknown[];
}

/** The variables of the payload of a schedule (docs/schedules.md). */
export interface ScheduleVariables {
  /** The time of the tick. */
  scheduled_for: string;
}

/** The variables of a scorer of an experiment (docs/experiments.md). Null if there is none. */
export interface ScorerVariables {
  input: unknown;
  output: unknown;
  expected: unknown;
}

/**
 * Evaluates CEL within limits: an evaluation blocks the main thread for at most 10 ms and ends with an error result
 * after 1 s; expression-limits.ts has the others. To keep the 10 ms, code that makes a large payload must register its
 * text with `rememberText`. The variables are JSON and must not change before the result.
 *
 * Never rejects because of an expression or a payload. Rejects with a DomainError `unavailable` if this server cannot
 * evaluate now. This says nothing about the expression, and the caller should try again later.
 */
export class ExpressionEvaluator {
  private readonly processes = new EvaluationProcesses();

  /** `source` must have passed `checkExpression`. */
  async evaluate(
    source: string,
    variables: ExpressionVariables | ScheduleVariables | ScorerVariables,
  ): Promise<EvaluationResult> {
    const program = compiled(source);
    // Work that may take longer than a millisecond goes to a process that can be killed.
    return program.runShort(variables) ?? (await this.processes.evaluate(source, program.used(variables)));
  }

  /** Like `evaluate`, but returns null if the evaluation may take longer than about a millisecond. */
  evaluateNow(source: string, variables: ExpressionVariables): EvaluationResult | null {
    return compiled(source).runShort(variables);
  }

  close(): Promise<void> {
    return this.processes.close();
  }
}
