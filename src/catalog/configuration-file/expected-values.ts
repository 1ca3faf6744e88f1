import { constantResult } from '../../cel/language/constant-result.js';
import { mayGiveNumber, type TypedExpression } from '../../cel/types/type-check.js';
import { inWords, isOnly, type Kind, type ValueType } from '../../cel/types/value-type.js';
import type { JsonValue } from '../../common/json.js';
import { shown } from '../../common/short-text.js';
import { LEAST_WEIGHT, MOST_PRIORITY, MOST_WEIGHT } from '../definitions.js';
import { isLongKey, LONGEST_KEY } from '../execution-keys.js';

/** Says why no value of this type is what an expression must give. Null if one may be. */
export type Expected = (type: ValueType) => string | null;

/**
 * Says why an expression never gives what it must give, so that nothing could start. Null if it may give it. An error in its
 * types is the cause of all else, and is reported by itself.
 */
export function valueProblem(source: string, { type, findings }: TypedExpression, expected: Expected): string | null {
  if (findings.some(({ warning }) => !warning)) return null;
  const constant = constantResult(source);
  if (constant?.ok === false) return `always fails: ${constant.error}`;
  return expected(constant ? typeOf(constant.value) : type);
}

/** The key of an execution: of a limit, of turns, of what runs alone or is cancelled, of a breaker. */
export const KEY: Expected = (type) => {
  if (gives(type, 'null', 'list', 'map', 'type'))
    return `gives ${inWords(type.kinds!)}, but a key is a text, a number, true or false`;
  const isLong = type.values?.length && type.values.every((value) => isLongKey(String(value)));
  return isLong ? `always gives a key of more than ${LONGEST_KEY} characters; shorten it` : null;
};

/** The key of a join or a window, for each artifact alone. It may be a list or an object. */
export const WINDOW_KEY: Expected = (type) =>
  gives(type, 'null') ? 'gives null, and then no artifact triggers' : null;

/** It may be a list or an object. */
export const CACHE_KEY: Expected = (type) =>
  gives(type, 'null') ? 'gives null, and then every execution fails' : null;

const numbers =
  (is: string, isValid: (value: number) => boolean): Expected =>
  (type) =>
    mayGiveNumber({ type }, isValid) ? null : `must give ${is}${butGives(type)}`;

const from = (least: number, most: number) => (value: number) => value >= least && value <= most;

export const WEIGHT = numbers(`a number from ${LEAST_WEIGHT} to ${MOST_WEIGHT}`, from(LEAST_WEIGHT, MOST_WEIGHT));

export const PRIORITY = numbers(
  `a whole number from -${MOST_PRIORITY} to ${MOST_PRIORITY}`,
  (value) => Number.isInteger(value) && Math.abs(value) <= MOST_PRIORITY,
);

/** `burst`: that of the rate. Null if the limit has no valid rate. */
export const unitsWithin = (burst: number | null): Expected =>
  numbers(
    burst === null ? 'a number that is not negative' : `a number from 0 to ${burst}, the burst of the rate`,
    from(0, burst ?? Infinity),
  );

function butGives({ kinds, values }: ValueType): string {
  if (values?.length === 1) return `, but always gives ${shown(JSON.stringify(values[0]), LONGEST_SHOWN)}`;
  return kinds && !NUMBERS.some((kind) => kinds.has(kind)) ? `, but gives ${inWords(kinds)}` : '';
}

const LONGEST_SHOWN = 80;
const NUMBERS: readonly Kind[] = ['int', 'uint', 'double'];

/** Whether all values of the type have one of these kinds. */
const gives = (type: ValueType, ...kinds: Kind[]): boolean =>
  type.kinds !== null && type.kinds.size > 0 && isOnly(type, ...kinds);

function typeOf(value: JsonValue): ValueType {
  if (Array.isArray(value)) return { kinds: new Set(['list']) };
  if (typeof value === 'object' && value !== null) return { kinds: new Set(['map']) };
  return { kinds: new Set([SCALARS[value === null ? 'null' : typeof value]!]), values: [value] };
}

const SCALARS: Readonly<Record<string, Kind>> = { null: 'null', boolean: 'bool', number: 'double', string: 'string' };
