import { type ArgumentMetadata, Injectable, type PipeTransform, type Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';
import { DomainError } from '../../common/domain-error.js';
import { isJsonObject, type JsonObject } from '../../common/json.js';
import { unknownFields } from '../../common/unknown-fields.js';
import { ignoresUnknownFields } from './ignores-unknown-fields.js';
import { opaqueFields } from './opaque.js';
import { describeErrors } from './validation-messages.js';

interface Fields {
  described: string[];
  opaque: string[];
  known: string[];
}

/**
 * Turns bodies and queries into their DTOs, or into a DomainError `invalid` that names every bad field. A field that the DTO of a body does
 * not describe is a bad one, unless the DTO `IgnoresUnknownFields`; unknown parameters of queries are ignored. Nothing is coerced but what a
 * query decorator coerces (`http/validation/query.ts`).
 */
@Injectable()
export class ValidationPipe implements PipeTransform {
  private readonly fieldsByClass = new Map<Type, Fields>();
  private readonly emptyQueries = new Map<Type, object>();

  transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || !metatype || (metatype as unknown) === Object) return value;
    if (!isJsonObject(value)) throw new DomainError('invalid', 'The body must be a JSON object');
    if (type === 'query' && Object.keys(value).length === 0) return this.emptyQuery(metatype);
    return this.validated(metatype, value, type);
  }

  /** The same for every request: to find out again that nothing is wrong would take a tenth of a list's time. */
  private emptyQuery(metatype: Type): object {
    let query = this.emptyQueries.get(metatype);
    if (!query) this.emptyQueries.set(metatype, (query = Object.freeze(this.validated(metatype, {}, 'query'))));
    return query;
  }

  private validated(metatype: Type, value: object, type: 'body' | 'query'): object {
    const fields = this.fieldsOf(metatype);
    const instance = instantiate(metatype, value, fields, type);
    const errors = validateSync(instance, { validationError: { target: false, value: false } });
    const refusesUnknown = type === 'body' && !ignoresUnknownFields(metatype);
    const problems = [...describeErrors(errors), ...(refusesUnknown ? this.unknownIn(value, instance, fields, '') : [])];
    // In the order of their names, so that the same problem always reads the same.
    if (problems.length > 0) throw new DomainError('invalid', problems.sort().join('; '));
    return instance;
  }

  /**
   * Looks at the fields that were sent, and at what they became for the classes of nested ones. class-validator's `whitelist` would take
   * `constructor` and `hasOwnProperty` for known fields, since it looks each name up in a plain object.
   */
  private unknownIn(given: object, instance: object, { described, known }: Fields, path: string): string[] {
    const problems = unknownFields(given, known).map(({ name, problem }) => `${path}${name}: ${problem}`);
    for (const field of described) {
      const value = (instance as Record<string, unknown>)[field];
      if (!isJsonObject(value)) continue;
      const fields = this.fieldsOf(Object.getPrototypeOf(value).constructor as Type);
      if (fields.known.length > 0) problems.push(...this.unknownIn((given as JsonObject)[field] as JsonObject, value, fields, `${path}${field}.`));
    }
    return problems;
  }

  private fieldsOf(metatype: Type): Fields {
    let fields = this.fieldsByClass.get(metatype);
    if (!fields) {
      const opaque = opaqueFields(metatype);
      const validated = getMetadataStorage().getTargetValidationMetadatas(metatype, '', false, false);
      const described = new Set(validated.map((rule) => rule.propertyName).filter((name) => !opaque.has(name)));
      fields = { described: [...described], opaque: [...opaque], known: [...described, ...opaque] };
      this.fieldsByClass.set(metatype, fields);
    }
    return fields;
  }
}

function instantiate(metatype: Type, source: object, fields: Fields, type: 'body' | 'query'): object {
  const described = pick(source, fields.described);
  const instance = type === 'body' && Object.values(described).every(isFlat) ? Object.assign(new metatype() as object, described) : transformed(metatype, described);
  return Object.assign(instance, pick(source, fields.opaque));
}

function transformed(metatype: Type, described: Record<string, unknown>): object {
  for (const [field, value] of Object.entries(described)) refuseUnsafe(field, value, MOST_VALUES);
  return plainToInstance(metatype, described) as object;
}

/** A body's field that class-transformer would only copy, at a cost that a publish notices. */
const isFlat = (value: unknown): boolean => !isObject(value) || (Array.isArray(value) && value.length <= MOST_VALUES && !value.some(isObject));

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function pick(source: object, fields: string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const field of fields) {
    if (Object.hasOwn(source, field)) picked[field] = (source as Record<string, unknown>)[field];
  }
  return picked;
}

/** In one described field. None takes a tenth of it, and class-transformer takes long for many. */
const MOST_VALUES = 10_000;

/**
 * class-transformer takes an object's own `constructor` for a class and calls it, which a client's value cannot be. Returns how many values
 * the field may still hold.
 */
function refuseUnsafe(field: string, value: unknown, room: number): number {
  if (room === 0) throw new DomainError('invalid', `${field}: must not hold more than ${MOST_VALUES} values`);
  if (typeof value !== 'object' || value === null) return room - 1;
  if (Object.hasOwn(value, 'constructor')) {
    throw new DomainError('invalid', `${field}: must not hold a key named constructor`);
  }
  let left = room - 1;
  for (const key in value) left = refuseUnsafe(field, (value as Record<string, unknown>)[key], left);
  return left;
}
