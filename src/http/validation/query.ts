import { applyDecorators } from '@nestjs/common';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { Expose, Transform } from 'class-transformer';
import type { ValidationArguments } from 'class-validator';

import { shown } from '../../common/short-text.js';
import { parseDuration } from '../../common/units.js';
import { ApiProperty } from '../openapi/documentation.js';
import { ArrayMaxSize, IsIn, ValidateBy } from './class-validator.js';
import { IfGiven } from './field-rules.js';
import { isVisibleAscii, visibleAsciiRule } from './text-rules.js';

interface Documentation {
  description: string;
  example?: unknown;
}

type Raw = string | string[] | undefined;

interface Coercion<T> {
  /** Returns `undefined` if the text cannot be parsed. */
  read(text: string): T | undefined;
  /** The error message after the parameter's name. A message with a capital letter is used without the name. */
  complaint: string | ((args: ValidationArguments) => string);
  default?: T;
  isRequired?: boolean;
}

/** Placeholder in the DTO for a text that could not be parsed, until validation turns it into a message. */
class Unreadable {
  constructor(readonly text: string) {}
}

/** A scalar parameter, parsed from its text. A missing one gets its default; a repeated or invalid one is a 400. */
function scalar<T>(coercion: Coercion<T>): PropertyDecorator {
  const coerce = (raw: Raw): T | undefined | Unreadable | string[] => {
    if (raw === undefined) return coercion.default;
    return typeof raw === 'string' ? (coercion.read(raw) ?? new Unreadable(raw)) : raw;
  };
  return applyDecorators(
    Expose(),
    Transform(({ value }: { value: Raw }) => coerce(value)),
    ValidateBy({
      name: 'isQueryValue',
      validator: {
        validate: (value) =>
          !(value instanceof Unreadable) && !Array.isArray(value) && !(coercion.isRequired && value === undefined),
        defaultMessage: (args) => complain(coercion.complaint, args!),
      },
    }),
  );
}

function complain(complaint: Coercion<unknown>['complaint'], args: ValidationArguments): string {
  if (Array.isArray(args.value)) return `${args.property} must be given once`;
  return typeof complaint === 'string' ? `${args.property} ${complaint}` : complaint(args);
}

/** The parameter in the OpenAPI document. The schema may make it required. */
const documented = ({ description, example }: Documentation, schema: Record<string, unknown>): PropertyDecorator =>
  ApiProperty({ required: false, description, example, ...schema } as ApiPropertyOptions);

export function QueryInteger(
  options: Documentation & { min: number; max?: number; default?: number },
): PropertyDecorator {
  const { min, max = Number.MAX_SAFE_INTEGER, default: fallback } = options;
  const range = options.max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  const read = (text: string): number | undefined => {
    const number = /^-?\d{1,16}$/.test(text) ? Number(text) : NaN;
    return number >= min && number <= max ? number : undefined;
  };
  return applyDecorators(
    documented(options, { type: 'integer', minimum: min, maximum: max, default: fallback }),
    scalar({ read, complaint: `must be a whole number ${range}`, default: fallback }),
  );
}

const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** `true`, `false`, `1` or `0`. Case-insensitive, because Python clients send `True`. */
export function QueryBoolean(options: Documentation & { default: boolean }): PropertyDecorator {
  return applyDecorators(
    documented(options, { type: 'boolean', default: options.default }),
    scalar({
      read: (text) => BOOLEANS.get(text.toLowerCase()),
      complaint: 'must be true or false',
      default: options.default,
    }),
  );
}

/** `replay`: whether the answer includes replays. `of`: what it consists of, in the plural. */
export const QueryReplays = (of: string): PropertyDecorator =>
  QueryBoolean({
    description: `Whether to include the ${of} of replays; with a correlation id, they are always included`,
    default: false,
    example: true,
  });

/** The times that `parseTimestamp` accepts, for messages. */
export const TIMESTAMP_RULE = 'give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24';

/** Epoch milliseconds of an ISO 8601 timestamp. Without a time zone it is UTC. */
export function QueryTimestamp(options: Documentation): PropertyDecorator {
  return applyDecorators(
    documented(options, { type: 'string', format: 'date-time' }),
    scalar({
      read: parseTimestamp,
      complaint: ({ property, value }) =>
        `Invalid ${property}: ${shown((value as Unreadable).text)}; ${TIMESTAMP_RULE}`,
    }),
  );
}

/** `format` is only for the OpenAPI document. The service checks it when it looks the text up. */
export function QueryText(options: Documentation & { format?: 'uuid' }): PropertyDecorator {
  return applyDecorators(
    documented(options, { type: 'string', format: options.format }),
    scalar({ read: (text) => text, complaint: 'must be a string' }),
  );
}

/** An id that a client gave, or a part of one. */
export function QueryVisibleAscii(
  options: Documentation & { maxLength: number; isRequired?: boolean },
): PropertyDecorator {
  const { maxLength, isRequired = false } = options;
  return applyDecorators(
    documented(options, {
      type: 'string',
      minLength: 1,
      maxLength,
      pattern: '^[\\x21-\\x7e]+$',
      required: isRequired,
    }),
    scalar({
      read: (text) => (isVisibleAscii(text, maxLength) ? text : undefined),
      complaint: visibleAsciiRule(maxLength),
      isRequired,
    }),
  );
}

export function QueryChoice(
  options: Documentation & { choices: readonly string[]; default?: string },
): PropertyDecorator {
  const { choices, default: fallback } = options;
  return applyDecorators(
    documented(options, { type: 'string', enum: [...choices], default: fallback }),
    scalar({
      read: (text) => (choices.includes(text) ? text : undefined),
      complaint: `must be one of ${choices.join(', ')}`,
      default: fallback,
    }),
  );
}

/** One of these durations, in any notation: `PT60M` is `1h`. */
export function QueryDuration(
  options: Documentation & { choices: readonly string[]; default?: string },
): PropertyDecorator {
  const { choices, default: fallback } = options;
  const read = (text: string): string | undefined => {
    const length = parseDuration(text);
    return length === null ? undefined : choices.find((choice) => parseDuration(choice) === length);
  };
  return applyDecorators(
    documented(options, { type: 'string', enum: [...choices], default: fallback }),
    scalar({ read, complaint: `must be one of ${choices.join(', ')}`, default: fallback }),
  );
}

/** A parameter that may be repeated: a list of at most `most` values, or `undefined` if it is absent. */
export function QueryList(options: Documentation & { most: number; choices?: readonly string[] }): PropertyDecorator {
  const { most, choices } = options;
  return applyDecorators(
    documented(options, {
      type: 'array',
      items: { type: 'string', ...(choices && { enum: [...choices] }) },
      maxItems: most,
    }),
    Transform(({ value }: { value: Raw }) => (typeof value === 'string' ? [value] : value)),
    IfGiven(),
    ArrayMaxSize(most),
    ...(choices ? [IsIn(choices, { each: true, message: `must be one of ${choices.join(', ')}` })] : []),
  );
}

const PATTERN = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d+))?)?(Z|[+\- ]\d{2}:?\d{2})?)?$/i;

/**
 * Epoch milliseconds of an ISO 8601 date or timestamp; `undefined` if `text` is not one. Without a time zone it is UTC.
 * A space before the offset is read as `+`, because an unencoded plus in a query string arrives as a space.
 */
export function parseTimestamp(text: string): number | undefined {
  const match = PATTERN.exec(text);
  if (!match) return undefined;
  const [, date, time = '00:00', seconds = '00', fraction = '', zone = 'Z'] = match;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  // A leap second, which RFC 3339 allows, becomes the next second.
  const [second, added] = seconds === '60' ? ['59', 1_000] : [seconds, 0];
  const epoch = Date.parse(`${date}T${time}:${second}.${milliseconds}${offset(zone)}`);
  return isRealDate(date!) && !Number.isNaN(epoch) ? epoch + added : undefined;
}

function offset(zone: string): string {
  if (zone.toUpperCase() === 'Z') return 'Z';
  return `${zone[0] === ' ' ? '+' : zone[0]}${zone.slice(1, 3)}:${zone.slice(-2)}`;
}

/** `Date.parse` rolls 30 February over into March. */
const isRealDate = (date: string): boolean => {
  const parsed = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date);
};
