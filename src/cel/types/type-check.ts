import type { JsonValue } from '../../common/json.js';
import { nearestName } from '../../common/names-in-messages.js';
import { compiled } from '../language/expression-program.js';
import type { Parsed } from '../language/language.js';
import { type Call, type Comprehension, type Expr, startOf } from '../language/syntax-tree.js';
import { resolve } from './overloads.js';
import { TypeProblems } from './type-problems.js';
import {
  ANY,
  asBranches,
  inWords,
  isOnly,
  type Kind,
  listOf,
  mapOf,
  mayBe,
  oneOf,
  union,
  type ValueType,
} from './value-type.js';

/** A finding of the types in an expression. `offset` is a position in its source, in characters. */
export interface TypeFinding {
  message: string;
  offset: number;
  /** True if the expression may still be meant as it is. */
  warning: boolean;
}

export type Scope = ReadonlyMap<string, ValueType>;

/** An expression whose types are known as far as they can be. */
export interface TypedExpression {
  type: ValueType;
  findings: readonly TypeFinding[];
}

/**
 * Finds parts of an expression that fail for every input, from what is known about its variables. `source` must have
 * passed `checkExpression`. The checker of the library only knows constants and variables so far.
 */
export function typed(source: string, variables: Scope): TypedExpression {
  const { parsed } = compiled(source);
  const check = new TypeCheck(parsed);
  const type = check.typeOf(parsed.expr, variables);
  return { type, findings: check.findings };
}

const TYPE_NAMES = new Set(['int', 'uint', 'double', 'bool', 'string', 'bytes', 'list', 'map', 'null_type', 'type']);
const NUMBERS: Kind[] = ['int', 'uint', 'double'];

class TypeCheck {
  private readonly found = new Map<string, TypeFinding>();
  private readonly problems: TypeProblems;

  constructor(private readonly parsed: Parsed) {
    this.problems = new TypeProblems(parsed);
  }

  /** The same error in several places is one finding. */
  get findings(): TypeFinding[] {
    return [...this.found.values()];
  }

  typeOf(expr: Expr, scope: Scope): ValueType {
    return { ...this.inferred(expr, scope), origin: this.startOf(expr) };
  }

  private inferred(expr: Expr, scope: Scope): ValueType {
    const { exprKind } = expr;
    switch (exprKind.case) {
      case 'constExpr':
        return constantType(exprKind.value.constantKind);
      case 'identExpr': {
        const name = exprKind.value.name.replace(/^\./, '');
        return scope.get(name) ?? (TYPE_NAMES.has(name) ? oneOf('type') : ANY);
      }
      case 'selectExpr': {
        const { operand, field, testOnly } = exprKind.value;
        if (!operand) return ANY;
        const found = this.field(operand, this.typeOf(operand, scope), field, { at: expr, testOnly });
        return testOnly ? oneOf('bool') : found;
      }
      case 'listExpr': {
        const elements = exprKind.value.elements.map((element) => this.typeOf(element, scope));
        return listOf(asBranches(elements));
      }
      case 'structExpr':
        return this.literalMap(exprKind.value, scope);
      case 'comprehensionExpr':
        return this.loop(expr, exprKind.value, scope);
      case 'callExpr':
        return this.call(expr, exprKind.value, scope);
      default:
        return ANY;
    }
  }

  private field(
    operand: Expr,
    type: ValueType,
    name: string,
    { at, testOnly }: { at: Expr; testOnly: boolean },
  ): ValueType {
    if (!mayBe(type, 'map') && !mayBe(type, 'time') && !mayBe(type, 'duration')) {
      if (!mayBe(type, 'null')) this.add(at, this.problems.fieldOf(operand, name, type));
      return ANY;
    }
    const field = type.fields?.find(name) ?? 'unknown';
    if (typeof field === 'object') return field.type;
    if (field === 'unknown') return ANY;
    const { names } = type.fields!;
    if (field === 'absent') this.add(at, this.problems.noField(operand, name, type.fields!), { warning: testOnly });
    const nearest = nearestName(name, names);
    if (field === 'undeclared' && nearest !== undefined)
      this.add(at, this.problems.undeclaredField(operand, name, nearest), { warning: true });
    return ANY;
  }

  private literalMap(
    { messageName, entries }: Extract<Expr['exprKind'], { case: 'structExpr' }>['value'],
    scope: Scope,
  ) {
    const fields = new Map<string, ValueType>();
    let isComplete = messageName === '';
    let hasTexts = true;
    for (const { keyKind, value, optionalEntry } of entries) {
      const type = value ? this.typeOf(value, scope) : ANY;
      const keyType = keyKind.case === 'mapKey' ? this.typeOf(keyKind.value, scope) : ANY;
      const key = keyType.values?.[0];
      if (typeof key === 'string' && !optionalEntry) fields.set(key, type);
      else isComplete = false;
      hasTexts &&= isOnly(keyType, 'string');
    }
    // All other maps are JSON objects, so that only texts are keys of a map.
    if (messageName !== '' || !hasTexts) return ANY;
    return isComplete ? mapOf(fields) : oneOf('map');
  }

  private loop(expr: Expr, loop: Comprehension, scope: Scope): ValueType {
    const { iterRange, accuInit, loopCondition, loopStep, result } = loop;
    if (!iterRange || !accuInit || !loopCondition || !loopStep || !result) return ANY;
    const range = this.typeOf(iterRange, scope);
    if (!mayBe(range, 'list') && !mayBe(range, 'map') && !mayBe(range, 'null'))
      this.add(expr, this.problems.loop(expr, iterRange, range));
    const element = isOnly(range, 'list') ? elementOf(range) : isOnly(range, 'map') ? oneOf('string') : ANY;
    const first = this.typeOf(accuInit, scope);
    const inner = new Map([...scope, [loop.iterVar, element], [loop.accuVar, first]]);
    this.typeOf(loopCondition, inner);
    const step = this.typeOf(loopStep, inner);
    return this.typeOf(result, new Map([...inner, [loop.accuVar, union([first, step])]]));
  }

  private call(expr: Expr, call: Call, scope: Scope): ValueType {
    const isNamespaced = call.target !== undefined && call.function === 'quote';
    const operands = [...(call.target && !isNamespaced ? [call.target] : []), ...call.args];
    const types = operands.map((operand) => this.typeOf(operand, scope));
    const [left = ANY, right = ANY, third = ANY] = types;
    switch (call.function) {
      case '_&&_':
      case '_||_':
        operands.forEach((operand, at) => this.condition(operand, types[at]!));
        return oneOf('bool');
      case '!_':
        this.condition(operands[0]!, left);
        return oneOf('bool');
      case '@not_strictly_false':
        return oneOf('bool');
      case '_?_:_':
        this.condition(operands[0]!, left);
        return asBranches([right, third]);
      case '_[_]':
        return this.element(expr, operands as [Expr, Expr], left, right);
      case '_==_':
      case '_!=_':
        this.comparison(expr, operands as [Expr, Expr], left, right);
        return oneOf('bool');
      case '_+_':
        if (isOnly(left, 'list') && isOnly(right, 'list'))
          return listOf(asBranches([left.items ?? ANY, right.items ?? ANY]));
        break;
      case 'dyn':
        return ANY;
    }
    return isNamespaced ? ANY : this.resolved(expr, call, types);
  }

  private resolved(expr: Expr, call: Call, types: ValueType[]): ValueType {
    const resolution = resolve(call.function, types, call.target !== undefined);
    if ('result' in resolution) return resolution.result;
    // A value that may be null is checked elsewhere in the expression, or fails only then.
    if (!types.some((type) => type.kinds !== null && type.kinds.size > 1 && mayBe(type, 'null')))
      this.add(expr, this.problems.operands(expr, call, types, resolution.takes), { mixes: mixesNumbers(types) });
    return ANY;
  }

  private element(expr: Expr, [operand, index]: [Expr, Expr], type: ValueType, indexType: ValueType): ValueType {
    const [name] = indexType.values ?? [];
    if (typeof name === 'string' && indexType.values?.length === 1 && !isOnly(type, 'list'))
      return this.field(operand, type, name, { at: expr, testOnly: false });
    const isKey = mayBe(type, 'map') && mayBe(indexType, 'string');
    if (!mayBe(type, 'list') && !isKey && !mayBe(type, 'null'))
      this.add(expr, this.problems.element(operand, index, type));
    const { mostItems = Infinity } = type;
    if (indexType.values?.every((value) => Number(value) >= mostItems))
      this.add(expr, this.problems.noElement(operand, index, mostItems));
    return isOnly(type, 'list') ? elementOf(type) : ANY;
  }

  private condition(operand: Expr, type: ValueType): void {
    if (mayBe(type, 'bool') || mayBe(type, 'null')) return;
    this.add(operand, this.problems.condition(operand, type));
  }

  private comparison(expr: Expr, operands: [Expr, Expr], left: ValueType, right: ValueType): void {
    if (left.kinds === null || right.kinds === null || mayBe(left, 'null') || mayBe(right, 'null')) return;
    if (![...comparable(left.kinds)].some((kind) => comparable(right.kinds!).has(kind)))
      return this.add(expr, this.problems.neverEqual(expr, left, right), { warning: true });
    for (const [at, literal, other] of [
      [0, right, left],
      [1, left, right],
    ] as const) {
      const [value] = literal.values ?? [];
      const isLiteral = operands[1 - at]!.exprKind.case === 'constExpr';
      if (!isLiteral || typeof value !== 'string' || !other.values || other.values.includes(value)) continue;
      const known = other.values.filter((each) => typeof each === 'string');
      if (operands[at].exprKind.case !== 'constExpr' && known.length === other.values.length)
        this.add(expr, this.problems.noSuchValue(value, operands[at], known), { warning: true });
    }
  }

  private add(at: Expr, message: string, { warning = false, mixes = false } = {}): void {
    if (mixes) return;
    const known = this.found.get(message);
    if (!known || (known.warning && !warning)) this.found.set(message, { message, warning, offset: this.startOf(at) });
  }

  private startOf(expr: Expr): number {
    return startOf(expr, this.parsed);
  }
}

/** The warnings about arithmetic have a better advice for these. */
const mixesNumbers = (types: readonly ValueType[]): boolean =>
  types.length === 2 &&
  types.every((type) => isOnly(type, ...NUMBERS)) &&
  !types.every((type) => isOnly(type, 'double'));

/** The type of an element of the list. An empty list has no elements, so nothing is known to be wrong with them. */
const elementOf = ({ items = ANY }: ValueType): ValueType => (items.kinds?.size === 0 ? ANY : items);

/** Numbers of all kinds are compared by their values. */
const comparable = (kinds: ReadonlySet<Kind>): Set<Kind> =>
  new Set([...kinds].map((kind) => (NUMBERS.includes(kind) ? 'double' : kind)));

type Constant = Extract<Expr['exprKind'], { case: 'constExpr' }>['value']['constantKind'];

function constantType({ case: kind, value }: Constant): ValueType {
  const of = (name: Kind, json: JsonValue): ValueType => ({ kinds: new Set([name]), values: [json] });
  switch (kind) {
    case 'boolValue':
      return of('bool', value);
    case 'doubleValue':
      return of('double', value);
    case 'int64Value':
      return of('int', Number(value));
    case 'uint64Value':
      return of('uint', Number(value));
    case 'stringValue':
      return of('string', value);
    case 'nullValue':
      return of('null', null);
    case 'bytesValue':
      return oneOf('bytes');
    default:
      return ANY;
  }
}

/** Whether an expression of this type may give a number for which `isValid` is true. */
export function mayGiveNumber(
  { type: { kinds, values } }: Pick<TypedExpression, 'type'>,
  isValid: (value: number) => boolean,
): boolean {
  if (kinds !== null && kinds.size > 0 && !NUMBERS.some((kind) => kinds.has(kind))) return false;
  return !values || values.some((value) => typeof value === 'number' && isValid(value));
}

/** The problem of a predicate that can never be true or false; null if it can be. */
export const predicateProblem = ({ type }: TypedExpression): string | null =>
  type.kinds === null || mayBe(type, 'bool') || mayBe(type, 'null')
    ? null
    : `gives ${inWords(type.kinds)}, but it must give true or false`;
