import { UNITS_A_VALUE } from './json-text.js';
import { type Call, type Comprehension, type Expr, loopParts, parts } from './syntax-tree.js';

// A step takes 10 to 20 ns, and some take 100 ns until they are compiled, so this is about 1 ms.
const STEPS_OF_ONE_EVALUATION = 65_536;
const MOST_UNITS = 16_384;

// Searching may compare the text at each position of the searched text.
const LONGEST_SEARCHED_TEXT = 64;

/** Functions that read at most the size of the smaller argument from each. */
const COMPARING = new Set('_==_ _!=_ _<_ _<=_ _>_ _>=_'.split(' '));
/** Functions that are linear in the size of their arguments and return a number, a boolean or a type. */
const SCALAR = new Set([
  ...COMPARING,
  ...'_&&_ _||_ !_ -_ _-_ _*_ _/_ _%_ @in @not_strictly_false size contains startsWith endsWith indexOf int uint double bool type'.split(
    ' ',
  ),
]);
/** Linear functions whose result is at most as large as their arguments together. */
const CARRYING = new Set(
  '_+_ _?_:_ _[_] string dyn lowerAscii upperAscii trim substring charAt timestamp duration'.split(' '),
);
const SEARCHING = new Set(['contains', 'indexOf']);

interface Weight {
  /** The maximum number of units of the value. */
  volume: number;
  /** The maximum number of steps of the evaluation. */
  work: number;
}

/** The context of an expression. */
interface Scope {
  /** Units of an input variable. `names` has those of the variables of a macro. */
  variable: number;
  names: ReadonlyMap<string, number>;
  /** Steps of an operation, without those for its arguments. */
  step: number;
}

/**
 * How many units of input (see `Budget`) `expr` may read on the main thread and still finish within about a
 * millisecond; 0 if the time cannot be predicted, as with nested macros, regular expressions and `replace`.
 */
export function inlineUnits(expr: Expr): number {
  let fits = 0;
  for (let tooMany = MOST_UNITS + 1; tooMany - fits > 1;) {
    const units = Math.floor((fits + tooMany) / 2);
    const weight = weigh(expr, { variable: units, names: new Map(), step: Math.max(units, UNITS_A_VALUE) });
    if (!weight) return 0;
    if (weight.work <= STEPS_OF_ONE_EVALUATION) fits = units;
    else tooMany = units;
  }
  return fits;
}

/** Null if the weight cannot be predicted. */
function weigh(expr: Expr, scope: Scope): Weight | null {
  const { exprKind } = expr;
  if (exprKind.case === 'identExpr')
    return { volume: scope.names.get(exprKind.value.name) ?? scope.variable, work: scope.step };
  if (exprKind.case === 'constExpr') return { volume: UNITS_A_VALUE + textLength(expr), work: scope.step };
  if (exprKind.case === 'comprehensionExpr') return weighMacro(exprKind.value, scope);
  if (!isLinear(expr)) return null;
  const weights = weighAll(parts(expr), scope);
  if (!weights) return null;
  const volume = Math.max(sum(weights, 'volume'), UNITS_A_VALUE);
  const name = exprKind.case === 'callExpr' ? exprKind.value.function : '';
  return {
    volume: SCALAR.has(name) ? UNITS_A_VALUE : volume,
    work: scope.step + sum(weights, 'work') + readVolume(expr, weights),
  };
}

/**
 * The body runs once for each element. Each element has at least `UNITS_A_VALUE` units, and each run has a fixed cost
 * besides the cost of the element's units. So the worst case is the largest number of elements, each of the smallest
 * size.
 */
function weighMacro(macro: Comprehension, scope: Scope): Weight | null {
  // The costs of nested macros would multiply.
  if (scope.names.size > 0) return null;
  const range = macro.iterRange ? weigh(macro.iterRange, scope) : null;
  if (!range) return null;
  // The accumulated list grows by one part at a time and is not read in between: see `growList`.
  const names = new Map([
    [macro.iterVar, UNITS_A_VALUE],
    [macro.accuVar, 0],
  ]);
  const body = weighAll(loopParts(macro), { ...scope, names, step: UNITS_A_VALUE });
  if (!body) return null;
  const elements = Math.ceil(range.volume / UNITS_A_VALUE);
  return {
    volume: elements * sum(body, 'volume'),
    work: scope.step + range.work + range.volume + elements * (sum(body, 'work') + sum(body, 'volume')),
  };
}

function weighAll(exprs: Expr[], scope: Scope): Weight[] | null {
  const weights: Weight[] = [];
  for (const expr of exprs) {
    const weight = weigh(expr, scope);
    if (!weight) return null;
    weights.push(weight);
  }
  return weights;
}

/** Units of its parts' values that the expression itself reads. */
function readVolume({ exprKind }: Expr, weights: Weight[]): number {
  if (exprKind.case === 'selectExpr') return 0;
  const name = exprKind.case === 'callExpr' ? exprKind.value.function : '';
  if (name === '_[_]') return sum(weights.slice(1), 'volume');
  if (COMPARING.has(name)) return weights.length * Math.min(...weights.map(({ volume }) => volume));
  return sum(weights, 'volume');
}

const sum = (weights: Weight[], part: keyof Weight): number =>
  weights.reduce((total, weight) => total + weight[part], 0);

function isLinear({ exprKind }: Expr): boolean {
  switch (exprKind.case) {
    case 'callExpr':
      return isLinearCall(exprKind.value);
    case 'structExpr':
      return exprKind.value.messageName === '';
    default:
      return true;
  }
}

function isLinearCall({ function: name, args }: Call): boolean {
  if (SEARCHING.has(name)) return args[0] !== undefined && isShortText(args[0]);
  return SCALAR.has(name) || CARRYING.has(name);
}

const isShortText = (expr: Expr): boolean => textLength(expr) <= LONGEST_SEARCHED_TEXT && isText(expr);

const isText = ({ exprKind }: Expr): boolean =>
  exprKind.case === 'constExpr' && exprKind.value.constantKind.case === 'stringValue';

/** 0 if it is not a constant text. */
function textLength({ exprKind }: Expr): number {
  if (exprKind.case !== 'constExpr') return 0;
  const { constantKind } = exprKind.value;
  return constantKind.case === 'stringValue' || constantKind.case === 'bytesValue' ? constantKind.value.length : 0;
}
