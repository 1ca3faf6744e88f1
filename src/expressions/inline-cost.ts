import { type Call, type Expr, parts } from './syntax-tree.js';

// A unit takes 10 to 20 ns, some of them 100 ns before they are compiled: this is about 1 ms.
const WORK_OF_ONE_EVALUATION = 65_536;
const MOST_UNITS = 16_384;

// Searching may compare the text with each character of what is searched.
const LONGEST_SEARCHED_TEXT = 64;

/** Functions whose time is linear in the size of their arguments, and whose result is a number, a boolean or a type. */
const SCALAR = new Set(
  '_==_ _!=_ _<_ _<=_ _>_ _>=_ _&&_ _||_ !_ -_ _-_ _*_ _/_ _%_ @in size contains startsWith endsWith indexOf int uint double bool type'.split(' '),
);
/** Likewise linear, with a result that is no larger than their arguments together. */
const CARRYING = new Set('_+_ _?_:_ _[_] string dyn lowerAscii upperAscii trim substring charAt timestamp duration'.split(' '));
const SEARCHING = new Set(['contains', 'indexOf']);

interface Weight {
  /** How often the inputs can be in its value, as `a + a` holds them twice. */
  volume: number;
  /** Steps of an evaluation for each unit of the inputs. */
  work: number;
}

/**
 * How many units of input (see `Budget`) `expr` may read on the main thread, so that it is done within about a millisecond;
 * 0 where its time is not known beforehand to be linear, as with macros, regular expressions and `replace`.
 */
export function inlineUnits(expr: Expr, source: string): number {
  const weight = weigh(expr);
  if (!weight) return 0;
  const units = Math.min(WORK_OF_ONE_EVALUATION / weight.work - source.length, MOST_UNITS);
  return Math.max(Math.floor(units), 0);
}

function weigh(expr: Expr): Weight | null {
  if (!isLinear(expr)) return null;
  const weights = parts(expr).map(weigh);
  const total: Weight = { volume: 0, work: 1 };
  for (const weight of weights) {
    if (!weight) return null;
    total.volume += weight.volume;
    total.work += weight.work + weight.volume;
  }
  if (weights.length === 0) return { volume: 1, work: 1 };
  const { exprKind } = expr;
  return exprKind.case === 'callExpr' && SCALAR.has(exprKind.value.function) ? { volume: 0, work: total.work } : total;
}

function isLinear({ exprKind }: Expr): boolean {
  switch (exprKind.case) {
    case 'callExpr':
      return isLinearCall(exprKind.value);
    case 'structExpr':
      return exprKind.value.messageName === '';
    default:
      return exprKind.case !== 'comprehensionExpr';
  }
}

function isLinearCall({ function: name, args }: Call): boolean {
  if (SEARCHING.has(name)) return args[0] !== undefined && isShortText(args[0]);
  return SCALAR.has(name) || CARRYING.has(name);
}

function isShortText({ exprKind }: Expr): boolean {
  if (exprKind.case !== 'constExpr') return false;
  const { constantKind } = exprKind.value;
  return constantKind.case === 'stringValue' && constantKind.value.length <= LONGEST_SEARCHED_TEXT;
}
