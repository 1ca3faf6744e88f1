import { arithmeticWarnings } from './arithmetic-warnings.js';
import { compiled } from './compiled-programs.js';
import { literalProblem } from './literal-check.js';
import { nameProblem } from './name-check.js';

/** Returns what is wrong with an expression and how to change it; null if it is valid. */
export function checkExpression(source: string): string | null {
  try {
    const { expr } = compiled(source).parsed;
    return nameProblem(expr) ?? literalProblem(expr);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Warnings for a valid expression that will fail for most inputs: arithmetic that mixes payload numbers and integers.
 */
export const expressionWarnings = (source: string): string[] => arithmeticWarnings(compiled(source).parsed);
