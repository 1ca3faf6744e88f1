import type { parse } from '@bufbuild/cel';

export type Expr = ReturnType<typeof parse>['expr'];
export type Call = Extract<Expr['exprKind'], { case: 'callExpr' }>['value'];
export type Comprehension = Extract<Expr['exprKind'], { case: 'comprehensionExpr' }>['value'];

/** A problem of an expression, or a doubt. */
export interface ExpressionFinding {
  message: string;
  /** The position in the source, in characters. Absent if it is about the whole. */
  offset?: number;
}

/** The direct subexpressions. */
export function parts(expr: Expr): Expr[] {
  const { exprKind } = expr;
  switch (exprKind.case) {
    case 'selectExpr':
      return present(exprKind.value.operand);
    case 'callExpr':
      return present(exprKind.value.target, ...exprKind.value.args);
    case 'listExpr':
      return exprKind.value.elements;
    case 'structExpr':
      return exprKind.value.entries.flatMap(({ keyKind, value }) =>
        present(keyKind.case === 'mapKey' ? keyKind.value : undefined, value),
      );
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
      return present(iterRange, accuInit, loopCondition, loopStep, result);
    }
    default:
      return [];
  }
}

/** The position in the source at which an expression begins, in characters. */
export function startOf(expr: Expr, parsed: ReturnType<typeof parse>): number {
  const own = parsed.sourceInfo?.positions[String(expr.id)] ?? 0;
  return Math.min(own, ...parts(expr).map((part) => startOf(part, parsed)));
}

/** The parts of a macro in which its variables are defined. */
export const loopParts = ({ loopCondition, loopStep, result }: Comprehension): Expr[] =>
  present(loopCondition, loopStep, result);

/** `a.b.c` as a text; null if `expr` is not such a chain of names. */
export function qualifiedName(expr: Expr): string | null {
  const { exprKind } = expr;
  if (exprKind.case === 'identExpr') return exprKind.value.name.replace(/^\./, '');
  if (exprKind.case !== 'selectExpr' || exprKind.value.testOnly || !exprKind.value.operand) return null;
  const operand = qualifiedName(exprKind.value.operand);
  return operand === null ? null : `${operand}.${exprKind.value.field}`;
}

const present = (...exprs: (Expr | undefined)[]): Expr[] => exprs.filter((expr) => expr !== undefined);
