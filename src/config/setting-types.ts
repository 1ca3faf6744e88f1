import type { JsonObject } from '../common/json.js';
import { DURATION_PATTERN, parseDuration, parseSize } from '../common/units.js';
import { isWebhookSecret, WEBHOOK_SECRET_RULE } from '../common/webhook-secret.js';

/** `wrong` is the part of the given value that is not valid. */
export type ParseResult<T> = { value: T } | { wrong: unknown };

/** The type of a setting: how its values are parsed, from any source, and how they are described. */
export interface SettingType<T> {
  /** Placeholder for the value in `--help`. */
  placeholder: string;
  /** Completes "must be ...". */
  expected: string;
  /** JSON Schema of the value in the configuration file. */
  schema: JsonObject;
  /** `raw` is text from a flag or the environment, or any value from the configuration file. */
  parse(raw: unknown): ParseResult<T>;
}

const fits = <T>(raw: unknown, value: T | null | undefined): ParseResult<T> =>
  value == null ? { wrong: raw } : { value };

export function text(bounds: { min: number; max: number }): SettingType<string> {
  const fitting = (raw: unknown): raw is string =>
    typeof raw === 'string' && raw.length >= bounds.min && raw.length <= bounds.max;
  return {
    placeholder: 'text',
    expected: `a text of ${bounds.min} to ${bounds.max} characters`,
    schema: { type: 'string', minLength: bounds.min, maxLength: bounds.max },
    parse: (raw) => fits(raw, fitting(raw) ? raw : null),
  };
}

export function matching(form: {
  placeholder: string;
  expected: string;
  pattern: string;
  accepts?: (text: string) => boolean;
}): SettingType<string> {
  const pattern = new RegExp(form.pattern, 'u');
  const fitting = (raw: unknown): raw is string =>
    typeof raw === 'string' && pattern.test(raw) && (form.accepts?.(raw) ?? true);
  return {
    placeholder: form.placeholder,
    expected: form.expected,
    schema: { type: 'string', pattern: form.pattern },
    parse: (raw) => fits(raw, fitting(raw) ? raw : null),
  };
}

export function oneOf<T extends string>(...values: T[]): SettingType<T> {
  return {
    placeholder: values.join('|'),
    expected: `one of ${values.join(', ')}`,
    schema: { type: 'string', enum: values },
    parse: (raw) =>
      fits(
        raw,
        values.find((value) => value === raw),
      ),
  };
}

export function integer(bounds: { min: number; max: number }): SettingType<number> {
  const parse = (raw: unknown): unknown => (typeof raw === 'string' && /^\d+$/.test(raw) ? Number(raw) : raw);
  const fitting = (number: unknown): number is number =>
    Number.isSafeInteger(number) && isWithin(number as number, bounds);
  return {
    placeholder: 'n',
    expected: `an integer from ${bounds.min} to ${bounds.max}`,
    schema: { type: 'integer', minimum: bounds.min, maximum: bounds.max },
    parse: (raw) => {
      const number = parse(raw);
      return fits(raw, fitting(number) ? number : null);
    },
  };
}

const BOOLEANS = new Map<unknown, boolean>([
  [true, true],
  ['true', true],
  ['1', true],
  [false, false],
  ['false', false],
  ['0', false],
]);

export function boolean(): SettingType<boolean> {
  return {
    placeholder: 'true|false',
    expected: 'true or false',
    schema: { type: 'boolean' },
    parse: (raw) => fits(raw, BOOLEANS.get(raw)),
  };
}

/** A duration. The value is in milliseconds. */
export function duration(bounds: { min: string; max: string }): SettingType<number> {
  const limits = { min: parseDuration(bounds.min)!, max: parseDuration(bounds.max)! };
  return {
    placeholder: 'duration',
    expected: `a duration from ${bounds.min} to ${bounds.max}, such as 500ms, 30s or 5m`,
    schema: { type: 'string', pattern: DURATION_PATTERN },
    parse: (raw) => {
      const value = typeof raw === 'string' ? parseDuration(raw) : null;
      return fits(raw, value !== null && isWithin(value, limits) ? value : null);
    },
  };
}

/** A size. The value is in bytes. */
export function size(bounds: { min: string; max: string }): SettingType<number> {
  const limits = { min: parseSize(bounds.min)!, max: parseSize(bounds.max)! };
  return {
    placeholder: 'size',
    expected: `a size from ${bounds.min} to ${bounds.max}, such as 512KiB, 1MiB or a number of bytes`,
    schema: {
      type: ['string', 'integer'],
      pattern: '^\\d+ ?(B|KiB|MiB|GiB)?$',
      minimum: limits.min,
      maximum: limits.max,
    },
    parse: (raw) => {
      const value = typeof raw === 'string' || typeof raw === 'number' ? parseSize(String(raw)) : null;
      return fits(raw, value !== null && isWithin(value, limits) ? value : null);
    },
  };
}

/** A list: text with commas, or also an array in the configuration file. Each item is of type `item`. */
export function listOf<T>(item: SettingType<T>, expected: string): SettingType<T[]> {
  return {
    placeholder: 'list',
    expected,
    schema: { type: ['array', 'string'], items: { ...item.schema, errorMessage: `must be ${item.expected}` } },
    parse: (raw) => {
      const items = splitList(raw);
      if (!items) return { wrong: raw };
      const results = items.map((part) => item.parse(part));
      const wrong = results.find((result) => 'wrong' in result);
      return wrong ?? { value: results.flatMap((result) => ('value' in result ? [result.value] : [])) };
    },
  };
}

function splitList(raw: unknown): unknown[] | null {
  if (Array.isArray(raw)) return raw;
  if (typeof raw !== 'string') return null;
  return raw
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

const isWithin = (value: number, { min, max }: { min: number; max: number }): boolean => value >= min && value <= max;

/** A file that has a name. */
export interface NamedFile {
  name: string;
  file: string;
}

export const LONGEST_CONFIGURATION_NAME = 64;
const NAMED_FILE = `^[A-Za-z0-9][A-Za-z0-9_.-]{0,${LONGEST_CONFIGURATION_NAME - 1}}=.+$`;

/** Files with names that differ. */
export function namedFiles(): SettingType<NamedFile[]> {
  const form = new RegExp(NAMED_FILE, 'u');
  const item: SettingType<NamedFile> = {
    placeholder: 'name=file',
    expected: 'a name and a file, such as candidate=candidate.yaml',
    schema: { type: 'string', pattern: NAMED_FILE },
    parse: (raw) => fits(raw, typeof raw === 'string' && form.test(raw) ? namedFile(raw) : null),
  };
  const list = listOf(
    item,
    'a list of name=file with different names of letters, digits, dots, dashes and underscores, such as candidate=candidate.yaml',
  );
  return {
    ...list,
    parse: (raw) => {
      const result = list.parse(raw);
      return 'value' in result && new Set(result.value.map(({ name }) => name)).size < result.value.length
        ? { wrong: raw }
        : result;
    },
  };
}

function namedFile(text: string): NamedFile {
  const end = text.indexOf('=');
  return { name: text.slice(0, end), file: text.slice(end + 1) };
}

const MOST_RETRIES = 20;

/** Times of the retries, in milliseconds after the first try. An empty list means a single try. */
export function retryTimes(): SettingType<number[]> {
  const list = listOf(
    duration({ min: '100ms', max: '7d' }),
    `at most ${MOST_RETRIES} durations from 100ms to 7d, each longer than the one before, such as 5s,30s,2m`,
  );
  return {
    ...list,
    schema: { ...list.schema, maxItems: MOST_RETRIES },
    parse: (raw) => {
      const result = list.parse(raw);
      return 'value' in result && !isAscending(result.value) ? { wrong: raw } : result;
    },
  };
}

const isAscending = (times: readonly number[]): boolean =>
  times.length <= MOST_RETRIES && times.every((time, index) => index === 0 || time > times[index - 1]!);

const MOST_SECRETS = 2;

/**
 * No secret, one, or two while receivers change from one to the other. A comma separates them, so a secret has none.
 */
export function webhookSecrets(): SettingType<string[]> {
  const secret: SettingType<string> = {
    placeholder: 'secret',
    expected: WEBHOOK_SECRET_RULE,
    schema: { type: 'string', minLength: 16, maxLength: 256 },
    parse: (raw) => (isWebhookSecret(raw) ? { value: raw } : { wrong: raw }),
  };
  const list = listOf(secret, `${WEBHOOK_SECRET_RULE}, or two of them`);
  return {
    ...list,
    schema: { ...list.schema, pattern: '^$|.{16}', maxItems: MOST_SECRETS },
    parse: (raw) => {
      const result = list.parse(raw);
      return 'value' in result && result.value.length > MOST_SECRETS ? { wrong: raw } : result;
    },
  };
}

export function secretKey(): SettingType<string> {
  return matching({
    placeholder: 'key',
    expected: '64 hexadecimal digits, for example from openssl rand -hex 32',
    pattern: '^[0-9A-Fa-f]{64}$',
  });
}
