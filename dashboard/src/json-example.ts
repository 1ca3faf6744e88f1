type Schema = Record<string, unknown>;

const MOST_LEVELS = 8;

/** Returns a value that resembles what the JSON Schema describes: its own example if it has one. */
export function exampleOf(schema: Schema | null): unknown {
  return schema === null ? {} : valueOf(schema, schema, 0);
}

function valueOf(schema: Schema, root: Schema, level: number): unknown {
  const { examples, default: preset, const: only, enum: allowed, $ref: reference } = schema;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (preset !== undefined) return preset;
  if (only !== undefined) return only;
  if (Array.isArray(allowed)) return allowed[0];
  if (level === MOST_LEVELS) return null;
  const next = typeof reference === 'string' ? found(reference, root) : firstOf(schema);
  if (next !== undefined) return valueOf(next, root, level + 1);
  return byType(schema, root, level);
}

/** The schema that a reference such as `#/$defs/line` means. */
function found(reference: string, root: Schema): Schema | undefined {
  const keys = reference.replace(/^#\/?/, '').split('/');
  const target = keys.reduce<unknown>((at, key) => (at as Schema | undefined)?.[key], root);
  return isSchema(target) ? target : undefined;
}

function firstOf({ oneOf, anyOf, allOf }: Schema): Schema | undefined {
  const [first] = [oneOf, anyOf, allOf].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return isSchema(first) ? first : undefined;
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

function byType(schema: Schema, root: Schema, level: number): unknown {
  const type = [schema['type']].flat()[0] ?? (isSchema(schema['properties']) ? 'object' : undefined);
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries((schema['properties'] ?? {}) as Record<string, unknown>).map(([name, property]) => [
          name,
          isSchema(property) ? valueOf(property, root, level + 1) : null,
        ]),
      );
    case 'array':
      return isSchema(schema['items']) ? [valueOf(schema['items'], root, level + 1)] : [];
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
