import { isCelError, plan } from '@bufbuild/cel';

import { nearestName } from '../../common/names-in-messages.js';
import { arithmeticWarnings } from './arithmetic-warnings.js';
import { compiled } from './expression-program.js';
import { language, SyntaxProblem } from './language.js';
import {
  type Call,
  type Expr,
  type ExpressionFinding,
  loopParts,
  parts,
  qualifiedName,
  startOf,
} from './syntax-tree.js';
import { ALL_VARIABLES, VARIABLES } from './variable-uses.js';

/**
 * Returns what is wrong with an expression and how to change it; null if it is valid. `variables` are those that it may
 * use.
 */
export function checkExpression(source: string, variables: readonly string[] = VARIABLES): ExpressionFinding | null {
  try {
    const { parsed } = compiled(source);
    const problem = nameProblem(parsed.expr, variables) ?? literalProblem(parsed.expr);
    return problem && { message: problem.message, offset: startOf(problem.at, parsed) };
  } catch (error) {
    if (error instanceof SyntaxProblem) return { message: error.message, offset: error.offset };
    return { message: error instanceof Error ? error.message : String(error) };
  }
}

interface Problem {
  message: string;
  at: Expr;
}

/**
 * Warnings for a valid expression that will fail for most inputs: arithmetic that mixes payload numbers and integers.
 */
export const expressionWarnings = (source: string): ExpressionFinding[] => arithmeticWarnings(compiled(source).parsed);

// Type names are values too, as in `type(payload.a) == string`.
const TYPES = ['int', 'uint', 'double', 'bool', 'string', 'bytes', 'list', 'map', 'null_type', 'type'];
const OPERATORS = new Set(['_&&_', '_||_', '_?_:_', '_[_]', '@not_strictly_false']);
const MACROS = new Set(['all', 'exists', 'exists_one', 'existsOne', 'map', 'filter']);
const FUNCTIONS = new Set(Array.from(language.funcs, ({ name }) => name));

/** Describes the first unknown variable or function, or the first wrong call; null if there is none. */
function nameProblem(expr: Expr, known: readonly string[]): Problem | null {
  const { exprKind } = expr;
  if (isTypeName(expr)) return null;
  const message = ownNameProblem(exprKind, known);
  if (message !== null) return { message, at: expr };
  const inner = exprKind.case === 'comprehensionExpr' ? loopParts(exprKind.value) : [];
  const innerKnown =
    exprKind.case === 'comprehensionExpr' ? [...known, exprKind.value.iterVar, exprKind.value.accuVar] : known;
  for (const part of parts(expr)) {
    if (exprKind.case === 'callExpr' && part === exprKind.value.target && namespaced(exprKind.value)) continue;
    const partProblem = nameProblem(part, inner.includes(part) ? innerKnown : known);
    if (partProblem !== null) return partProblem;
  }
  return null;
}

function ownNameProblem(exprKind: Expr['exprKind'], known: readonly string[]): string | null {
  if (exprKind.case === 'identExpr') return variableProblem(exprKind.value.name.replace(/^\./, ''), known);
  return exprKind.case === 'callExpr' ? callProblem(exprKind.value) : messageProblem(exprKind);
}

function variableProblem(name: string, known: readonly string[]): string | null {
  if (known.includes(name) || TYPES.includes(name)) return null;
  const nearest = nearestName(name, known);
  return `names the unknown variable ${name}; ${nearest ? `did you mean ${nearest}?` : offered(known)}`;
}

/** Without the variables of macros. */
function offered(known: readonly string[]): string {
  const variables = ALL_VARIABLES.filter((variable) => known.includes(variable));
  return `${variables.length === 1 ? 'there is' : 'there are'} ${variables.join(', ')}`;
}

function messageProblem({ case: kind, value }: Expr['exprKind']): string | null {
  if (kind !== 'structExpr' || value.messageName === '' || language.registry.getMessage(value.messageName)) return null;
  return `makes a message of the unknown type ${value.messageName}`;
}

function callProblem(call: Call): string | null {
  const name = namespaced(call) ?? call.function;
  if (OPERATORS.has(name)) return null;
  if (name === 'has' && !call.target) return 'has() takes one field, as in has(payload.text)';
  if (MACROS.has(name) && call.target)
    return `${name}() takes a name for the element and an expression, as in ${name}(x, x != null)`;
  if (!FUNCTIONS.has(name)) {
    const nearest = nearestName(name, [...FUNCTIONS, ...MACROS]);
    return `calls the unknown function ${name}${nearest ? `; did you mean ${nearest}?` : ''}`;
  }
  return arityProblem(call, name);
}

function arityProblem(call: Call, name: string): string | null {
  const isMethod = call.target !== undefined && !namespaced(call);
  const candidates = Array.from(language.funcs.find(name) ?? []).filter(
    ({ target }) => (target !== undefined) === isMethod,
  );
  if (candidates.length === 0)
    return `calls ${name} in the wrong form; write ${isMethod ? `${name}(x), not x.${name}()` : `x.${name}(), not ${name}(x)`}`;
  if (candidates.some((candidate) => candidate.arguments.length === call.args.length)) return null;
  const counts = [...new Set(candidates.map((candidate) => candidate.arguments.length))];
  return `calls ${name} with ${call.args.length} arguments; it takes ${counts.join(' or ')}`;
}

/** The full name of a namespaced function such as `strings.quote`; undefined for other calls. */
function namespaced({ target, function: name }: Call): string | undefined {
  const prefix = target && qualifiedName(target);
  return prefix && FUNCTIONS.has(`${prefix}.${name}`) ? `${prefix}.${name}` : undefined;
}

const isTypeName = (expr: Expr): boolean => language.registry.getMessage(qualifiedName(expr) ?? '') !== undefined;

// The result of these functions for literal texts is known before there is a payload.
const FROM_TEXT = new Set(['timestamp', 'duration', 'int', 'uint', 'bool']);

/** Describes the first literal that can never work: an invalid pattern, time or integer. Null if all are valid. */
function literalProblem(expr: Expr): Problem | null {
  const message = integerProblem(expr) ?? textProblem(expr);
  if (message !== null) return { message, at: expr };
  for (const part of parts(expr)) {
    const partProblem = literalProblem(part);
    if (partProblem !== null) return partProblem;
  }
  return null;
}

function integerProblem({ exprKind }: Expr): string | null {
  if (exprKind.case !== 'constExpr') return null;
  const { constantKind } = exprKind.value;
  const bits = constantKind.case === 'int64Value' ? 63n : constantKind.case === 'uint64Value' ? 64n : null;
  if (bits === null) return null;
  const value = constantKind.value as bigint;
  return value >= -(2n ** bits) && value < 2n ** bits
    ? null
    : `has the integer ${value}, which does not fit into 64 bits`;
}

function textProblem(expr: Expr): string | null {
  if (expr.exprKind.case !== 'callExpr') return null;
  const { function: name, target, args } = expr.exprKind.value;
  const text = args[0] && textOf(args[0]);
  if (text === undefined || args.length !== 1) return null;
  const probe = name === 'matches' ? withTarget(expr, args[0]!) : FROM_TEXT.has(name) && !target ? expr : null;
  const result = probe && plan(language, probe)({});
  return isCelError(result)
    ? `has a text that ${name}() does not accept, ${JSON.stringify(text)}: ${result.message}`
    : null;
}

/** The same call with a text instead of its target, which is not known yet. */
function withTarget(expr: Expr, target: Expr): Expr {
  if (expr.exprKind.case !== 'callExpr') return expr;
  return { ...expr, exprKind: { case: 'callExpr', value: { ...expr.exprKind.value, target } } };
}

function textOf({ exprKind }: Expr): string | undefined {
  if (exprKind.case !== 'constExpr') return undefined;
  const { constantKind } = exprKind.value;
  return constantKind.case === 'stringValue' ? constantKind.value : undefined;
}
