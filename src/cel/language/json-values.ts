import {
  type CelInput,
  type CelList,
  type CelMap,
  type CelResult,
  isCelList,
  isCelMap,
  isCelUint,
} from '@bufbuild/cel';
import { toJson } from '@bufbuild/protobuf';
import { isReflectMessage } from '@bufbuild/protobuf/reflect';
import { type Duration, DurationSchema, type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';

import type { JsonObject, JsonValue } from '../../common/json.js';
import { MOST_RESULT_VALUES } from './expression-limits.js';
import { type Budget, exceeds, UNITS_A_VALUE } from './json-text.js';
import type { Use } from './variable-uses.js';

/** Converts JSON to CEL values: objects become Maps, and numbers stay doubles. */
export function toCelInput(value: unknown, budget: Budget): CelInput {
  budget.left -= UNITS_A_VALUE;
  if (typeof value === 'string') budget.left -= value.length;
  if (typeof value !== 'object' || value === null) return value as CelInput;
  if (Array.isArray(value)) return listInput(value, budget);
  if (exceeds(value, budget)) return null;
  return objectInput(value as Record<string, unknown>, budget);
}

/** Like `toCelInput`, for the parts of `value` that an expression uses. */
export function usedInput(value: unknown, use: Use, budget: Budget): CelInput {
  if (use.whole) return toCelInput(value, budget);
  budget.left -= UNITS_A_VALUE;
  if (typeof value !== 'object' || value === null) return value as CelInput;
  // A list has no fields, and an empty list causes the same error.
  if (Array.isArray(value)) return [];
  const map = new Map<string, CelInput>();
  for (const [field, fieldUse] of use.fields) {
    if (Object.hasOwn(value, field))
      map.set(field, usedInput((value as Record<string, unknown>)[field], fieldUse, budget));
  }
  return map;
}

function listInput(list: unknown[], budget: Budget): CelInput {
  const items: CelInput[] = [];
  for (const item of list) {
    if (budget.left < 0) break;
    items.push(toCelInput(item, budget));
  }
  return items;
}

function objectInput(object: Record<string, unknown>, budget: Budget): CelInput {
  const map = new Map<string, CelInput>();
  for (const key in object) {
    if (budget.left < 0) break;
    budget.left -= key.length;
    map.set(key, toCelInput(object[key], budget));
  }
  return map;
}

type Value = Exclude<CelResult, Error>;

/**
 * Converts a result to JSON: ints and uints become numbers, bytes become base64, timestamps and durations use
 * protobuf's JSON form. Throws an error for values without a JSON form and for more than `MOST_RESULT_VALUES` values.
 */
export const resultJson = (value: Value): JsonValue => new ResultWriter().write(value);

class ResultWriter {
  private values = 0;

  write(value: Value): JsonValue {
    if (++this.values > MOST_RESULT_VALUES) throw new Error(`the result has more than ${MOST_RESULT_VALUES} values`);
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number') return finite(value);
    if (typeof value === 'bigint') return Number(value);
    if (isCelUint(value)) return Number(value.value);
    if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
    if (isCelList(value)) return this.list(value);
    if (isCelMap(value)) return this.map(value);
    if (isReflectMessage(value, TimestampSchema)) return toJson(TimestampSchema, value.message as Timestamp);
    if (isReflectMessage(value, DurationSchema)) return toJson(DurationSchema, value.message as Duration);
    throw new Error('the result contains a type or a message, which JSON cannot represent');
  }

  private list(list: CelList): JsonValue[] {
    return Array.from(list, (item) => this.write(item));
  }

  private map(map: CelMap): JsonObject {
    // `Object.fromEntries` defines own fields, even for the key `__proto__`.
    return Object.fromEntries(Array.from(map, ([key, item]) => [this.key(key), this.write(item)]));
  }

  private key(key: CelMap extends ReadonlyMap<infer Key, unknown> ? Key : never): string {
    this.values++;
    return String(isCelUint(key) ? key.value : key);
  }
}

function finite(number: number): number {
  if (!Number.isFinite(number)) throw new Error(`the result contains ${number}, which JSON cannot represent`);
  return number;
}
