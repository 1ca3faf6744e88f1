export type Schema = Record<string, unknown>;

const MOST_LEVELS = 8;

/** A schema that refers to itself in several places would otherwise have an endless example. */
const MOST_VALUES = 500;

interface Reading {
  root: Schema;
  /** How many more values the example may have. */
  left: number;
}

/** Returns a value that resembles what the JSON Schema describes: its own example if it has one. */
export function exampleOf(schema: Schema | null): unknown {
  return schema === null ? {} : valueOf(schema, { root: schema, left: MOST_VALUES }, 0);
}

function valueOf(schema: Schema, reading: Reading, level: number): unknown {
  const { examples, default: preset, const: only, enum: allowed, $ref: reference } = schema;
  reading.left -= 1;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (preset !== undefined) return preset;
  if (only !== undefined) return only;
  if (Array.isArray(allowed)) return allowed[0];
  if (level === MOST_LEVELS || reading.left < 0) return null;
  const next = typeof reference === 'string' ? referenced(reference, reading.root) : firstOf(schema);
  if (next !== undefined) return valueOf(next, reading, level + 1);
  return byType(schema, reading, level);
}

/** The schema that a reference such as `#/$defs/line` means, if it is a part of `root`. */
export function referenced(reference: string, root: Schema): Schema | undefined {
  if (!/^#(\/|$)/.test(reference)) return undefined;
  const keys = reference.slice(2).split('/');
  const target = keys
    .filter((key) => key !== '')
    .map((key) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, key) => (at as Schema | undefined)?.[key], root);
  return isSchema(target) ? target : undefined;
}

function firstOf({ oneOf, anyOf, allOf }: Schema): Schema | undefined {
  const [first] = [oneOf, anyOf, allOf].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return isSchema(first) ? first : undefined;
}

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const propertiesOf = (schema: Schema): [name: string, property: unknown][] =>
  Object.entries(isSchema(schema['properties']) ? schema['properties'] : {});

function byType(schema: Schema, reading: Reading, level: number): unknown {
  const type = [schema['type']].flat()[0] ?? (isSchema(schema['properties']) ? 'object' : undefined);
  switch (type) {
    case 'object':
      return Object.fromEntries(
        propertiesOf(schema).map(([name, property]) => [
          name,
          isSchema(property) ? valueOf(property, reading, level + 1) : null,
        ]),
      );
    case 'array':
      return isSchema(schema['items']) ? [valueOf(schema['items'], reading, level + 1)] : [];
    case 'string':
      return textOf(schema['format']);
    case 'integer':
    case 'number':
      return schema['minimum'] ?? 1;
    case 'boolean':
      return true;
    default:
      return null;
  }
}

const TEXTS: Record<string, string> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T09:00:00Z',
  time: '09:00:00Z',
  email: 'ada@example.com',
  uri: 'https://example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
};

const textOf = (format: unknown): string => TEXTS[String(format)] ?? 'text';

/** Returns only what the schema itself fills in: defaults, and values without an alternative. */
export function presetOf(schema: Schema): Record<string, unknown> {
  const presets = propertiesOf(schema).flatMap(([name, property]) => {
    const { default: preset, const: only = preset } = isSchema(property) ? property : {};
    return only === undefined ? [] : [[name, only] as const];
  });
  return Object.fromEntries(presets);
}
