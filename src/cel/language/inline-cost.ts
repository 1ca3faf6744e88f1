import { UNITS_A_VALUE } from './json-size.js';
import { type Call, type Comprehension, type Expr, loopParts, parts } from './syntax-tree.js';

// A step takes 10 to 20 ns, some of them 100 ns before they are compiled: this is about 1 ms.
const STEPS_OF_ONE_EVALUATION = 65_536;
const MOST_UNITS = 16_384;

// Searching may compare the text with each character of what is searched.
const LONGEST_SEARCHED_TEXT = 64;

/** Functions that read no more of either argument than the smaller one has. */
const COMPARING = new Set('_==_ _!=_ _<_ _<=_ _>_ _>=_'.split(' '));
/** Functions whose time is linear in the size of their arguments, and whose result is a number, a boolean or a type. */
const SCALAR = new Set(
  [...COMPARING, ...'_&&_ _||_ !_ -_ _-_ _*_ _/_ _%_ @in @not_strictly_false size contains startsWith endsWith indexOf int uint double bool type'.split(' ')],
);
/** Likewise linear, with a result that is no larger than their arguments together. */
const CARRYING = new Set('_+_ _?_:_ _[_] string dyn lowerAscii upperAscii trim substring charAt timestamp duration'.split(' '));
const SEARCHING = new Set(['contains', 'indexOf']);

interface Weight {
  /** Units of its value at most. */
  volume: number;
  /** Steps that its evaluation takes at most. */
  work: number;
}

/** Where an expression stands. */
interface Scope {
  /** Units of a variable, and of the elements that a macro is at. */
  variable: number;
  names: ReadonlyMap<string, number>;
  /** Steps of an operation besides those for its arguments. */
  step: number;
}

/**
 * How many units of input (see `Budget`) `expr` may read on the main thread, so that it is done within about a millisecond;
 * 0 where its time is not known beforehand, as with macros in macros, regular expressions and `replace`.
 */
export function inlineUnits(expr: Expr): number {
  let fits = 0;
  for (let tooMany = MOST_UNITS + 1; tooMany - fits > 1; ) {
    const units = Math.floor((fits + tooMany) / 2);
    const weight = weigh(expr, { variable: units, names: new Map(), step: Math.max(units, UNITS_A_VALUE) });
    if (!weight) return 0;
    if (weight.work <= STEPS_OF_ONE_EVALUATION) fits = units;
    else tooMany = units;
  }
  return fits;
}

/** Null where it is not known. */
function weigh(expr: Expr, scope: Scope): Weight | null {
  const { exprKind } = expr;
  if (exprKind.case === 'identExpr') return { volume: scope.names.get(exprKind.value.name) ?? scope.variable, work: scope.step };
  if (exprKind.case === 'constExpr') return { volume: UNITS_A_VALUE + textLength(expr), work: scope.step };
  if (exprKind.case === 'comprehensionExpr') return weighMacro(exprKind.value, scope);
  if (!isLinear(expr)) return null;
  const weights = weighAll(parts(expr), scope);
  if (!weights) return null;
  const volume = Math.max(sum(weights, 'volume'), UNITS_A_VALUE);
  const name = exprKind.case === 'callExpr' ? exprKind.value.function : '';
  return { volume: SCALAR.has(name) ? UNITS_A_VALUE : volume, work: scope.step + sum(weights, 'work') + readVolume(expr, weights) };
}

/**
 * Once for each element. As each of them is `UNITS_A_VALUE` or more, and a body takes a time of its own besides that for
 * the element's units, none takes longer than the most elements, all of them that small.
 */
function weighMacro(macro: Comprehension, scope: Scope): Weight | null {
  // Macros within this one's body would multiply.
  if (scope.names.size > 0) return null;
  const range = macro.iterRange ? weigh(macro.iterRange, scope) : null;
  if (!range) return null;
  // What is collected grows by a part at a time and is not read meanwhile: see `growList`.
  const names = new Map([[macro.iterVar, UNITS_A_VALUE], [macro.accuVar, 0]]);
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

/** Units of its parts' values that it reads itself. */
function readVolume({ exprKind }: Expr, weights: Weight[]): number {
  if (exprKind.case === 'selectExpr') return 0;
  const name = exprKind.case === 'callExpr' ? exprKind.value.function : '';
  if (name === '_[_]') return sum(weights.slice(1), 'volume');
  if (COMPARING.has(name)) return weights.length * Math.min(...weights.map(({ volume }) => volume));
  return sum(weights, 'volume');
}

const sum = (weights: Weight[], part: keyof Weight): number => weights.reduce((total, weight) => total + weight[part], 0);

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

const isText = ({ exprKind }: Expr): boolean => exprKind.case === 'constExpr' && exprKind.value.constantKind.case === 'stringValue';

/** 0 where it is not a constant text. */
function textLength({ exprKind }: Expr): number {
  if (exprKind.case !== 'constExpr') return 0;
  const { constantKind } = exprKind.value;
  return constantKind.case === 'stringValue' || constantKind.case === 'bytesValue' ? constantKind.value.length : 0;
}
