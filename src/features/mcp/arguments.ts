import type { Type } from '@nestjs/common';

import { DomainError } from '../../common/domain-error.js';
import type { JsonObject } from '../../common/json.js';
import { MAX_SHORT_TEXT } from '../../common/short-text.js';
import { maxLength } from '../../http/validation/class-validator.js';
import { ValidationPipe } from '../../http/validation/validation-pipe.js';
import type { Tool } from './tool.js';

const pipe = new ValidationPipe();
const LONGEST_SHOWN = 100;

/** Validates arguments as the body of a REST request. Throws DomainError `invalid`, which names every bad argument. */
export const checked = <T>(shape: Type<T>, given: JsonObject): T =>
  pipe.transform(given, { type: 'body', metatype: shape }) as T;

/**
 * Validates arguments as the query of a REST request, where numbers and booleans are texts. Throws DomainError
 * `invalid`.
 */
export function checkedQuery<T>(shape: Type<T>, given: JsonObject): T {
  const query = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, asText(name, value)]));
  return pipe.transform(query, { type: 'query', metatype: shape }) as T;
}

/** Returns the only argument of a lookup tool. Throws DomainError `invalid`. */
export function textOf(given: JsonObject, name: string): string {
  const value = given[name];
  if (value === undefined) throw new DomainError('invalid', `${name}: is required`);
  if (typeof value !== 'string') throw new DomainError('invalid', `${name}: must be a string`);
  if (!maxLength(value, MAX_SHORT_TEXT))
    throw new DomainError('invalid', `${name}: must be shorter than or equal to ${MAX_SHORT_TEXT} characters`);
  return value;
}

/** Refuses unknown arguments, because a misspelled one would otherwise be ignored. Throws DomainError `invalid`. */
export function refuseUnknown({ name, inputSchema }: Tool, given: JsonObject): void {
  const known = Object.keys(inputSchema.properties);
  const unknown = Object.keys(given).find((argument) => !known.includes(argument));
  if (unknown === undefined) return;
  throw new DomainError(
    'invalid',
    `${unknown.slice(0, LONGEST_SHOWN)}: is not an argument of ${name}, which takes ${known.join(', ') || 'none'}`,
  );
}

function asText(name: string, value: unknown): string | string[] {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string' || isTexts(value)) return value;
  throw new DomainError('invalid', `${name}: must be a string, a number, a boolean or a list of strings`);
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
