import { type CelInput, isCelError } from '@bufbuild/cel';

import type { EvaluationResult } from '../evaluator.js';
import { errorText } from './evaluation-error.js';
import { resetBytes } from './functions.js';
import { inlineUnits } from './inline-cost.js';
import type { Budget } from './json-size.js';
import { toCelInput, usedInput } from './json-values.js';
import { type Parsed, parseExpression, planExpression } from './language.js';
import { resultJson } from './result-json.js';
import { type Uses, type Variable, variableUses } from './variable-uses.js';

/** A compiled expression. */
export class Program {
  readonly parsed: Parsed;
  readonly uses: Uses;
  private readonly plan: ReturnType<typeof planExpression>;
  private readonly inlineUnits: number;
  private readonly source: string;

  /** Throws the errors of `parseExpression`. */
  constructor(source: string) {
    this.source = source;
    this.parsed = parseExpression(source);
    this.plan = planExpression(this.parsed);
    this.uses = variableUses(this.parsed.expr);
    this.inlineUnits = inlineUnits(this.parsed.expr);
  }

  /** Evaluates if that takes at most about a millisecond; returns null if it may take longer. */
  runShort(variables: Record<Variable, unknown>): EvaluationResult | null {
    if (this.inlineUnits === 0) return null;
    return outcome(() => {
      const budget: Budget = { left: this.inlineUnits };
      const bindings: Record<string, CelInput> = {};
      for (const [variable, use] of this.uses) bindings[variable] = usedInput(variables[variable], use, budget);
      return budget.left < 0 ? null : this.evaluate(bindings);
    });
  }

  /** Evaluates without a time limit. */
  run(variables: Partial<Record<Variable, unknown>>): EvaluationResult {
    return outcome(() => {
      const bindings: Record<string, CelInput> = {};
      for (const variable of this.uses.keys()) bindings[variable] = toCelInput(variables[variable], { left: Infinity });
      return this.evaluate(bindings);
    });
  }

  private evaluate(bindings: Record<string, CelInput>): EvaluationResult {
    resetBytes();
    const result = withoutStacks(() => this.plan(bindings));
    if (isCelError(result)) return { ok: false, error: errorText(result, this.parsed, this.source) };
    return { ok: true, value: resultJson(result) };
  }
}

/** A macro may create an error for each element. Capturing their unused stacks would take most of the time. */
function withoutStacks<Result>(evaluate: () => Result): Result {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return evaluate();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function outcome<Result>(evaluate: () => Result): Result | { ok: false; error: string } {
  try {
    return evaluate();
  } catch (error) {
    // The nesting of the inputs or of the result overflows the stack.
    if (error instanceof RangeError) return { ok: false, error: 'a value nests too deeply' };
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}
