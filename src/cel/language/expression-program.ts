import { type CelError, type CelInput, isCelError, unparse } from '@bufbuild/cel';

import type { JsonValue } from '../../common/json.js';
import { inlineUnits } from './inline-cost.js';
import type { Budget } from './json-text.js';
import { resultJson, toCelInput, usedInput } from './json-values.js';
import { type Parsed, parseExpression, planExpression, resetBytes } from './language.js';
import { type Expr, parts } from './syntax-tree.js';
import { type Uses, type Variable, variableUses } from './variable-uses.js';

/** `error` says what went wrong and where, without quoting the inputs. */
export type EvaluationResult = { ok: true; value: JsonValue } | { ok: false; error: string };

/** A compiled expression. */
class Program {
  readonly parsed: Parsed;
  private readonly uses: Uses;
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
  runShort(variables: Partial<Record<Variable, unknown>>): EvaluationResult | null {
    if (this.inlineUnits === 0) return null;
    return outcome(() => {
      const budget: Budget = { left: this.inlineUnits };
      const bindings: Record<string, CelInput> = {};
      for (const [variable, use] of this.uses) bindings[variable] = usedInput(variables[variable], use, budget);
      return budget.left < 0 ? null : this.evaluate(bindings);
    });
  }

  /** Whether the expression reads no variable, so that it always gives the same. */
  get isConstant(): boolean {
    return this.uses.size === 0;
  }

  /** The variables that the expression reads. */
  used(variables: Partial<Record<Variable, unknown>>): Partial<Record<Variable, unknown>> {
    return Object.fromEntries(Array.from(this.uses.keys(), (name) => [name, variables[name]]));
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

/** Characters of all cached expressions. A program takes about 140 bytes for each. */
const MOST_CACHED = 1_048_576;

const programs = new Map<string, Program>();
let cachedCharacters = 0;

/**
 * Returns the compiled expression, which is cached: compiling a long one takes 100 ms, and the check at the start does
 * it once. The cache has a limit, because replays may override expressions. Throws the errors of `parseExpression`.
 */
export function compiled(source: string): Program {
  const known = programs.get(source);
  if (known) {
    if (cachedCharacters > MOST_CACHED / 2) moveToEnd(source, known);
    return known;
  }
  const program = new Program(source);
  programs.set(source, program);
  cachedCharacters += source.length;
  for (const [oldest] of programs) {
    if (cachedCharacters <= MOST_CACHED) break;
    programs.delete(oldest);
    cachedCharacters -= oldest.length;
  }
  return program;
}

/** The expressions that were not used for the longest time come first. */
function moveToEnd(source: string, program: Program): void {
  programs.delete(source);
  programs.set(source, program);
}

const LONGEST_QUOTE = 80;

/** The library's messages that do not quote the inputs. */
const QUOTES_NOTHING = new RegExp(
  '^(found no matching overload|type mismatch|unresolved attribute|unsupported key type|unknown type|' +
    '(int|uint) (overflow|divide by zero|modulus by zero)|duration out of range|Failed to parse duration|' +
    'more than \\d+ bytes|Invalid string length|Maximum call stack)',
);

/** Messages that end with a name, which may come from an input. */
const ENDS_WITH_NAME = /^(field not found|map key conflict): (.*)$/s;

/**
 * Returns what went wrong and where, without quoting the inputs: the text is logged, and payloads must not be in logs.
 */
function errorText(problem: CelError, parsed: Parsed, source: string): string {
  const place = problem.exprId === undefined ? undefined : find(parsed.expr, problem.exprId);
  return `${withoutValues(problem.message, source)}${place ? quotation(place, parsed, source) : ''}`;
}

function quotation(place: Expr, parsed: Parsed, source: string): string {
  // A chain of accesses fails at its first name, which would be a misleading quote.
  if (place.exprKind.case === 'identExpr') return '';
  const quote = unparse({ ...parsed, expr: place });
  // Parts that a macro added contain generated names.
  return quote === source || quote.includes('@') ? '' : ` in \`${shortened(quote)}\``;
}

function withoutValues(message: string, source: string): string {
  const named = ENDS_WITH_NAME.exec(message);
  if (named) return source.includes(named[2]!) ? message : named[1]!;
  if (/^index .* out of bounds/.test(message)) return 'index out of bounds';
  return QUOTES_NOTHING.test(message) ? message : 'an argument has a value that does not fit';
}

function find(expr: Expr, id: bigint): Expr | undefined {
  if (expr.id === id) return expr;
  for (const part of parts(expr)) {
    const found = find(part, id);
    if (found) return found;
  }
  return undefined;
}

const shortened = (text: string): string => (text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text);
