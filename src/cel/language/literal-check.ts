import { isCelError, plan } from '@bufbuild/cel';

import { language } from './language.js';
import { type Expr, parts } from './syntax-tree.js';

// The result of these functions for literal texts is known before there is a payload.
const FROM_TEXT = new Set(['timestamp', 'duration', 'int', 'uint', 'bool']);

/** Describes the first literal that can never work: an invalid pattern, time or integer. Null if all are valid. */
export function literalProblem(expr: Expr): string | null {
  const problem = integerProblem(expr) ?? callProblem(expr);
  if (problem !== null) return problem;
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

function callProblem(expr: Expr): string | null {
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
