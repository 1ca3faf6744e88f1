import { type ArgumentMetadata, Injectable, type PipeTransform, type Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import type { ValidationError } from 'class-validator';

import { DomainError } from '../../common/domain-error.js';
import { isJsonObject, type JsonObject } from '../../common/json.js';
import { unknownFields } from '../../common/names-in-messages.js';
import { getMetadataStorage, Validator } from './class-validator.js';
import { ignoresUnknownFields, opaqueFields } from './field-rules.js';

interface Fields {
  described: string[];
  opaque: string[];
  known: string[];
}

/**
 * Turns bodies and queries into their DTOs, or throws a DomainError `invalid` that names every bad field. An unknown
 * field of a body is a bad field, unless the DTO is marked with `IgnoresUnknownFields`; unknown query parameters are
 * ignored. Only query decorators convert values (`http/validation/query.ts`).
 */
@Injectable()
export class ValidationPipe implements PipeTransform {
  private readonly validator = new Validator();
  private readonly fieldsByClass = new Map<Type, Fields>();
  private readonly emptyQueries = new Map<Type, object>();

  transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || !metatype || (metatype as unknown) === Object) return value;
    if (!isJsonObject(value)) throw new DomainError('invalid', this.noObject(value, metatype));
    if (type === 'query' && Object.keys(value).length === 0) return this.emptyQuery(metatype);
    return this.validated(metatype, value, type);
  }

  private noObject(value: unknown, metatype: Type): string {
    const problem = 'The body must be a JSON object';
    return value === undefined && this.acceptsNothing(metatype)
      ? `${problem}; send {} to leave out all fields`
      : problem;
  }

  private acceptsNothing(metatype: Type): boolean {
    try {
      this.validated(metatype, {}, 'body');
      return true;
    } catch {
      return false;
    }
  }

  /** Cached, because validating an empty query again would take a tenth of the time of a list request. */
  private emptyQuery(metatype: Type): object {
    let query = this.emptyQueries.get(metatype);
    if (!query) this.emptyQueries.set(metatype, (query = Object.freeze(this.validated(metatype, {}, 'query'))));
    return query;
  }

  private validated(metatype: Type, value: object, type: 'body' | 'query'): object {
    const fields = this.fieldsOf(metatype);
    const instance = instantiate(metatype, value, fields, type);
    const errors = this.validator.validateSync(instance, { validationError: { target: false } });
    const refusesUnknown = type === 'body' && !ignoresUnknownFields(metatype);
    const problems = [
      ...describeErrors(errors),
      ...(refusesUnknown ? this.unknownIn(value, instance, fields, '') : []),
    ];
    // Sorted by name, so that the same problems always give the same message.
    if (problems.length > 0) throw new DomainError('invalid', problems.sort().join('; '));
    return instance;
  }

  /**
   * Compares the fields that were sent with the known ones; the instances show the classes of nested objects.
   * class-validator's `whitelist` would accept `constructor` and `hasOwnProperty`, because it looks names up in a plain
   * object.
   */
  private unknownIn(given: object, instance: object, { described, known }: Fields, path: string): string[] {
    const problems = unknownFields(given, known).map(({ name, problem }) => `${path}${name}: ${problem}`);
    for (const field of described) {
      const value = (instance as Record<string, unknown>)[field];
      if (!isJsonObject(value)) continue;
      const fields = this.fieldsOf(Object.getPrototypeOf(value).constructor as Type);
      if (fields.known.length > 0)
        problems.push(...this.unknownIn((given as JsonObject)[field] as JsonObject, value, fields, `${path}${field}.`));
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
  const instance =
    type === 'body' && Object.values(described).every(isFlat)
      ? Object.assign(new metatype() as object, described)
      : transformed(metatype, described);
  return Object.assign(instance, pick(source, fields.opaque));
}

function transformed(metatype: Type, described: Record<string, unknown>): object {
  for (const [field, value] of Object.entries(described)) refuseUnsafe(field, value, MOST_VALUES);
  return plainToInstance(metatype, described) as object;
}

/** A body's field that class-transformer would only copy, which would slow down each publish. */
const isFlat = (value: unknown): boolean =>
  !isObject(value) || (Array.isArray(value) && value.length <= MOST_VALUES && !value.some(isObject));

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function pick(source: object, fields: string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const field of fields) {
    if (Object.hasOwn(source, field)) picked[field] = (source as Record<string, unknown>)[field];
  }
  return picked;
}

/**
 * The limit for one described field. Real fields have less than a tenth of it, and class-transformer is slow for many
 * values.
 */
const MOST_VALUES = 10_000;

/**
 * class-transformer treats an object's own `constructor` as a class and calls it, which fails for a client's value.
 * Returns how many values the field may still hold.
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

/** One message for each bad field, such as `timeout: must not be greater than 300`. */
const describeErrors = (errors: ValidationError[]): string[] => errors.flatMap((error) => describe(error, ''));

function describe(error: ValidationError, parent: string): string[] {
  const path = parent ? `${parent}.${error.property}` : error.property;
  const own = error.constraints ? [problemOf(path, error, error.constraints)] : [];
  return [...own, ...(error.children ?? []).flatMap((child) => describe(child, path))];
}

/** An absent field breaks all rules about values of its field, but only that it is absent helps the caller. */
function problemOf(path: string, { property, value }: ValidationError, constraints: Record<string, string>): string {
  const rule = foremost(constraints);
  return sentence(path, property, value === undefined && ABOUT_VALUES.test(rule) ? 'is required' : rule);
}

/** Other rules are about several fields, such as `give either outputs or output`, or list the values, which helps too. */
const ABOUT_VALUES = /^(?:\w+ )?(?:must(?! be one of)|is not) /;

/**
 * A value of the wrong type breaks all rules of its field, but only the rule about the type (`isString`) helps the
 * caller. In the same way, a value that is not a list breaks the rules about each value of a list.
 */
function foremost(constraints: Record<string, string>): string {
  const onType = Object.entries(constraints)
    .filter(([rule]) => rule.startsWith('is'))
    .map(([, message]) => message);
  return onType.find((message) => !message.startsWith('each value ')) ?? onType[0] ?? Object.values(constraints)[0]!;
}

/** Removes the field's name from the beginning of class-validator's message, because it is already before the colon. */
function sentence(path: string, property: string, message: string): string {
  const named = message.replace(`each value in ${property} `, 'each value ');
  const rule = named.startsWith(`${property} `) ? named.slice(property.length + 1) : named;
  // A message of this service that begins with a capital letter is a complete sentence, such as `Invalid from:
  // yesterday`.
  return /^[A-Z]/.test(rule) ? rule : `${path}: ${rule.replace(' conforming to the specified constraints', '')}`;
}
