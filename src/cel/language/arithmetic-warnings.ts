import { unparse } from '@bufbuild/cel';

import type { Parsed } from './language.js';
import { type Call, type Expr, type ExpressionFinding, loopParts, parts, startOf } from './syntax-tree.js';
import { VARIABLES } from './variable-uses.js';

const OPERATIONS = new Set(['_+_', '_-_', '_*_', '_/_', '_%_']);
const INTEGER_FUNCTIONS = /^(int|uint|size|indexOf|lastIndexOf|get[A-Z].*)$/;

/** The known kind of a value. `json` comes from an input, so it is a double if it is a number. */
type Kind = 'integer' | 'double' | 'json' | 'unknown';
type Scope = ReadonlyMap<string, Kind>;

/** CEL has no arithmetic between doubles and integers. JSON numbers are doubles; `1` and `size(x)` are integers. */
export function arithmeticWarnings(parsed: Parsed): ExpressionFinding[] {
  const warnings: ExpressionFinding[] = [];
  const text = (expr: Expr): string => unparse({ ...parsed, expr });
  visit(parsed.expr, new Map(VARIABLES.map((name) => [name, 'json'])));
  return warnings;

  function visit(expr: Expr, scope: Scope): void {
    const call = expr.exprKind.case === 'callExpr' ? unmixed(expr.exprKind.value, scope) : null;
    if (call) {
      const advice = text({ ...expr, exprKind: { case: 'callExpr', value: call } });
      warnings.push({
        message: `${text(expr)} mixes a JSON number (a double) with an integer; write ${advice}`,
        offset: startOf(expr, parsed),
      });
    }
    const inner = expr.exprKind.case === 'comprehensionExpr' ? loopParts(expr.exprKind.value) : [];
    for (const part of parts(expr)) visit(part, inner.includes(part) ? loopScope(expr, scope) : scope);
  }
}

/** The correct replacement for a call that mixes doubles and integers; null if the call does not mix them. */
function unmixed(call: Call, scope: Scope): Call | null {
  const [left, right] = call.args;
  if (!OPERATIONS.has(call.function) || !left || !right) return null;
  const kinds = [kindOf(left, scope), kindOf(right, scope)];
  const integer = kinds.indexOf('integer');
  const other = kinds[1 - integer];
  if (integer < 0 || (other !== 'double' && other !== 'json')) return null;
  const args = [...call.args];
  // CEL has no remainder for doubles.
  if (call.function === '_%_') args[1 - integer] = converted('int', args[1 - integer]!);
  else args[integer] = asDouble(args[integer]!);
  return { ...call, args };
}

function asDouble(expr: Expr): Expr {
  if (expr.exprKind.case !== 'constExpr') return converted('double', expr);
  const { constantKind } = expr.exprKind.value;
  const value = {
    ...expr.exprKind.value,
    constantKind: { case: 'doubleValue' as const, value: Number(constantKind.value) },
  };
  return { ...expr, exprKind: { case: 'constExpr', value } };
}

const converted = (name: string, expr: Expr): Expr => ({
  ...expr,
  id: 0n,
  exprKind: { case: 'callExpr', value: { $typeName: 'cel.expr.Expr.Call', function: name, args: [expr] } },
});

function loopScope(expr: Expr, scope: Scope): Scope {
  if (expr.exprKind.case !== 'comprehensionExpr') return scope;
  const { iterVar, accuVar, iterRange } = expr.exprKind.value;
  const kind = iterRange && kindOf(iterRange, scope) === 'json' ? 'json' : 'unknown';
  return new Map([...scope, [iterVar, kind], [accuVar, 'unknown']]);
}

function kindOf({ exprKind }: Expr, scope: Scope): Kind {
  switch (exprKind.case) {
    case 'identExpr':
      return scope.get(exprKind.value.name) ?? 'unknown';
    case 'selectExpr':
      return !exprKind.value.testOnly && exprKind.value.operand && kindOf(exprKind.value.operand, scope) === 'json'
        ? 'json'
        : 'unknown';
    case 'constExpr':
      return constantKind(exprKind.value.constantKind.case);
    case 'callExpr':
      return callKind(exprKind.value, scope);
    default:
      return 'unknown';
  }
}

function constantKind(kind: string | undefined): Kind {
  if (kind === 'doubleValue') return 'double';
  return kind === 'int64Value' || kind === 'uint64Value' ? 'integer' : 'unknown';
}

function callKind(call: Call, scope: Scope): Kind {
  if (INTEGER_FUNCTIONS.test(call.function)) return 'integer';
  if (call.function === 'double') return 'double';
  const kinds = call.args.map((arg) => kindOf(arg, scope));
  if (call.function === '_[_]') return kinds[0] === 'json' ? 'json' : 'unknown';
  if (call.function === '-_') return kinds[0] ?? 'unknown';
  if (!OPERATIONS.has(call.function)) return 'unknown';
  // The result has the kind of the operands. `json` may still turn out to be a text.
  return (
    kinds.find((kind) => kind === 'integer' || kind === 'double') ??
    (kinds.every((kind) => kind === 'json') ? 'json' : 'unknown')
  );
}
