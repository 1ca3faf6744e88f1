import { type CelList, type CelMap, type CelResult, isCelList, isCelMap, isCelUint } from '@bufbuild/cel';
import { toJson } from '@bufbuild/protobuf';
import { isReflectMessage } from '@bufbuild/protobuf/reflect';
import { type Duration, DurationSchema, type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';

import type { JsonObject, JsonValue } from '../../common/json.js';
import { MOST_RESULT_VALUES } from './expression-limits.js';

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
