import { type Expr, loopParts, parts } from './syntax-tree.js';

export const VARIABLES = ['payload', 'artifact', 'inputs'] as const;
/** The variables of a scorer of an experiment. */
export const SCORER_VARIABLES = ['input', 'output', 'expected'] as const;
/** The variables of some expression. `scheduled_for` is that of the payload of a schedule. */
export const ALL_VARIABLES = [...VARIABLES, 'scheduled_for', ...SCORER_VARIABLES] as const;
export type Variable = (typeof ALL_VARIABLES)[number];

/**
 * The parts of a value that an expression reads: all of it, or only some fields (none if it only tests for presence).
 */
export interface Use {
  whole: boolean;
  fields: Map<string, Use>;
}

export type Uses = Map<Variable, Use>;

/**
 * Returns what `expr` reads. `payload.a.b == artifact.type` needs no other field, no matter how large the payload is.
 */
export function variableUses(expr: Expr): Uses {
  const uses: Uses = new Map();
  collect(expr, new Set(), uses);
  return uses;
}

function collect(expr: Expr, bound: ReadonlySet<string>, uses: Uses): void {
  const path = pathOf(expr);
  const [root, ...fields] = path ?? [];
  if (root !== undefined && isVariable(root) && !bound.has(root)) {
    add(uses, root, fields, expr.exprKind.case !== 'selectExpr' || !expr.exprKind.value.testOnly);
  } else if (expr.exprKind.case === 'comprehensionExpr') {
    const loop = expr.exprKind.value;
    const inner = loopParts(loop);
    for (const part of parts(expr)) if (!inner.includes(part)) collect(part, bound, uses);
    for (const part of inner) collect(part, new Set([...bound, loop.iterVar, loop.accuVar]), uses);
  } else {
    for (const part of parts(expr)) collect(part, bound, uses);
  }
}

/** `payload.a["b"]` as a list of names; null if `expr` is not such a chain. */
function pathOf(expr: Expr): string[] | null {
  const { exprKind } = expr;
  if (exprKind.case === 'identExpr') return [exprKind.value.name.replace(/^\./, '')];
  if (exprKind.case === 'selectExpr') return extended(exprKind.value.operand, exprKind.value.field);
  if (exprKind.case !== 'callExpr' || exprKind.value.function !== '_[_]') return null;
  const [operand, index] = exprKind.value.args;
  if (index?.exprKind.case !== 'constExpr') return null;
  const { constantKind } = index.exprKind.value;
  return constantKind.case === 'stringValue' ? extended(operand, constantKind.value) : null;
}

function extended(operand: Expr | undefined, field: string): string[] | null {
  const path = operand ? pathOf(operand) : null;
  return path && [...path, field];
}

function add(uses: Uses, variable: Variable, fields: string[], whole: boolean): void {
  let use = entry(uses, variable);
  for (const field of fields) use = entry(use.fields, field);
  use.whole ||= whole;
}

function entry<Key>(uses: Map<Key, Use>, key: Key): Use {
  let use = uses.get(key);
  if (!use) uses.set(key, (use = { whole: false, fields: new Map() }));
  return use;
}

const isVariable = (name: string): name is Variable => ALL_VARIABLES.some((variable) => variable === name);
