import { unparse } from '@bufbuild/cel';

import { listed, nearestName } from '../../common/names-in-messages.js';
import type { Parsed } from '../language/language.js';
import type { Call, Expr } from '../language/syntax-tree.js';
import { type Fields, inWords, isOnly, type Kind, mayBe, type ValueType } from './value-type.js';

const LONGEST_QUOTE = 80;

/** Words the problems of one expression. Each message names the place and says what to write instead. */
export class TypeProblems {
  constructor(private readonly parsed: Parsed) {}

  /** `operand` has no such field. */
  noField(operand: Expr, field: string, { names, advice }: Fields): string {
    const at = this.text(operand);
    const own = advice?.(field);
    if (own) return `names the unknown field ${at}.${field}; ${own}`;
    const nearest = nearestName(field, names);
    if (nearest !== undefined) return `names the unknown field ${at}.${field}; did you mean ${at}.${nearest}?`;
    return `names the unknown field ${at}.${field}; ${at} has ${names.length === 0 ? 'no fields' : `only ${listed(names, 'and')}`}`;
  }

  /** `operand` may have the field, but its schema describes a similar one. */
  undeclaredField(operand: Expr, field: string, nearest: string): string {
    const at = this.text(operand);
    return `names the field ${at}.${field}, which no schema declares; did you mean ${at}.${nearest}?`;
  }

  fieldOf(operand: Expr, field: string, type: ValueType): string {
    const at = this.text(operand);
    if (isOnly(type, 'list'))
      return `names the field ${field} of ${at}, which is a list; name an element, as in ${at}[0].${field}, or use ${at}.map(x, x.${field})`;
    return `names the field ${field} of ${at}, which is ${inWords(type.kinds!)} and has no fields`;
  }

  element(operand: Expr, index: Expr, type: ValueType): string {
    const named = `names the element ${this.text(index)} of ${this.text(operand)}, which is ${inWords(type.kinds!)}`;
    return mayBe(type, 'map') ? `${named}; name a field of it` : named;
  }

  /** `operand` is a list of at most `most` elements. */
  noElement(operand: Expr, index: Expr, most: number): string {
    const at = this.text(operand);
    const end = most === 1 ? `has only ${at}[0]` : `ends with ${at}[${most - 1}]`;
    return `names the element ${this.text(index)} of ${at}, which ${end}`;
  }

  loop(expr: Expr, range: Expr, type: ValueType): string {
    const text = this.text(expr);
    return `loops over ${this.text(range)}, which is ${inWords(type.kinds!)} and not a list${text === '' ? '' : `, in \`${text}\``}`;
  }

  condition(expr: Expr, type: ValueType): string {
    return `uses ${this.text(expr)} as a condition, but it is ${inWords(type.kinds!)}; compare it with a value`;
  }

  operands(expr: Expr, call: Call, types: readonly ValueType[], takes: readonly (readonly (Kind | null)[])[]): string {
    const sign = SIGNS.get(call.function);
    const given = types.map(({ kinds }) => (kinds === null ? 'any value' : inWords(kinds)));
    if (sign !== undefined && types.length === 2)
      return `applies ${sign} to ${given.join(' and ')} in ${this.text(expr)}; ${this.advice(call, types) ?? sameOnBothSides(takes)}`;
    const wrong = types.findIndex(
      (type, at) => !takes.some((kinds) => kinds[at] === null || mayBe(type, kinds[at] as Kind)),
    );
    const at = Math.max(wrong, 0);
    const wanted = inWords(takes.flatMap((kinds) => kinds[at] ?? []));
    const name = sign ?? call.function;
    const operand = call.target ? [call.target, ...call.args][at]! : call.args[at]!;
    return `calls ${name} with ${this.text(operand)}, which is ${given[at]}; it takes ${wanted}`;
  }

  neverEqual(expr: Expr, left: ValueType, right: ValueType): string {
    return `compares ${inWords(left.kinds!)} with ${inWords(right.kinds!)} in ${this.text(expr)}, and these are never equal`;
  }

  noSuchValue(value: string, operand: Expr, known: readonly string[]): string {
    const nearest = nearestName(value, known);
    const help = nearest === undefined ? `it is one of ${quoted(known)}` : `did you mean ${JSON.stringify(nearest)}?`;
    return `compares ${this.text(operand)} with ${JSON.stringify(value)}, which it never is; ${help}`;
  }

  private advice({ function: name, args }: Call, types: readonly ValueType[]): string | null {
    const number = types.findIndex((type) => isOnly(type, 'double', 'int', 'uint'));
    if (number < 0 || !isOnly(types[1 - number]!, 'string')) return null;
    return name === '_+_'
      ? `write string(${this.text(args[number]!)})`
      : `write double(${this.text(args[1 - number]!)})`;
  }

  /** The source of a part of the expression, shortened; empty if a macro has made it. */
  private text(expr: Expr): string {
    const text = unparse({ ...this.parsed, expr });
    if (text.includes('@')) return '';
    return text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
  }
}

const SIGNS = new Map([
  ...['+', '-', '*', '/', '%', '<', '<=', '>', '>='].map((sign) => [`_${sign}_`, sign] as const),
  ['-_', '-'],
  ['@in', 'in'],
]);

const quoted = (values: readonly string[]): string =>
  listed(
    values.map((value) => JSON.stringify(value)),
    'or',
  );

function sameOnBothSides(takes: readonly (readonly (Kind | null)[])[]): string {
  const kinds = takes.flatMap(([left, right]) => (left && left === right ? [left] : []));
  return kinds.length === 0 ? 'it takes other operands' : `it takes two of one kind: ${inWords(kinds)}`;
}
