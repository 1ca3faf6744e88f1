import { compiled, type EvaluationResult } from './expression-program.js';

/**
 * Returns what an expression gives that reads no variable. Null if it reads one, or if its evaluation may take longer than a
 * millisecond. `source` must have passed `checkExpression`.
 */
export function constantResult(source: string): EvaluationResult | null {
  const program = compiled(source);
  return program.isConstant ? program.runShort({}) : null;
}
