import type { ArtifactType } from '../../catalog/definitions.js';
import { GrowthLimit } from '../../catalog/growth-limit.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.js';
import { partAt } from './schema-pointer.js';

const DEEPEST = 8;
const MOST_VALUES = 500;
const MOST_BYTES = 65_536;

const TEXTS: Record<string, string> = {
  'date-time': '2026-11-20T10:00:00Z',
  date: '2026-11-20',
  time: '10:00:00Z',
  duration: 'PT1H',
  email: 'anna@example.com',
  uuid: '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80',
  uri: 'https://example.com/',
  ipv4: '192.0.2.1',
  hostname: 'example.com',
};

/**
 * Returns a payload that the type accepts: the first example of its schema, or one made from the schema. Returns null if
 * none was found, for example because of a pattern.
 */
export function samplePayload({ schema, accept }: ArtifactType): JsonObject | null {
  if (schema === null) return {};
  const made = new Samples(schema).of(schema, 0);
  return isJsonObject(made) && !('problem' in accept(made, new GrowthLimit(MOST_BYTES))) ? made : null;
}

class Samples {
  /** A schema that refers to itself in several places would otherwise have an endless sample. */
  private left = MOST_VALUES;

  constructor(private readonly root: JsonObject) {}

  of(part: JsonValue | undefined, depth: number): JsonValue {
    this.left -= 1;
    if (!isJsonObject(part) || depth > DEEPEST || this.left < 0) return {};
    const given = [...listOf(part.examples), ...listOf(part.enum)][0] ?? part.default ?? part.const;
    if (given !== undefined) return given;
    if (typeof part.$ref === 'string') return this.of(partAt(this.root, part.$ref), depth + 1);
    const [type] = [part.type ?? (part.properties ? 'object' : undefined)].flat();
    if (type === 'object') return { ...this.ofAlternatives(part, depth), ...this.ofProperties(part, depth) };
    if (type === 'array') return [this.of(part.items, depth + 1)];
    const [choice] = [part.anyOf, part.oneOf, part.allOf].flatMap(listOf);
    return type === undefined && choice !== undefined ? this.of(choice, depth + 1) : plainSample(type, part);
  }

  /** Shows every property if the schema requires none. */
  private ofProperties({ properties, required }: JsonObject, depth: number): JsonObject {
    const needed = listOf(required);
    const shown = Object.entries(isJsonObject(properties) ? properties : {}).filter(
      ([name]) => needed.length === 0 || needed.includes(name),
    );
    return Object.fromEntries(shown.map(([name, part]) => [name, this.of(part, depth + 1)]));
  }

  private ofAlternatives({ allOf, anyOf, oneOf }: JsonObject, depth: number): JsonObject {
    const chosen = [...listOf(allOf), ...listOf(anyOf).slice(0, 1), ...listOf(oneOf).slice(0, 1)];
    const described = chosen.filter((part) => isJsonObject(part) && (part.properties ?? part.$ref));
    return Object.assign({}, ...described.map((part) => this.of(part, depth + 1))) as JsonObject;
  }
}

const listOf = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : []);

function plainSample(type: JsonValue | undefined, part: JsonObject): JsonValue {
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return sampleNumber(part);
  if (type === 'null') return null;
  const { minLength = 0, maxLength = MOST_BYTES } = part;
  const text = TEXTS[String(part.format)] ?? 'text';
  return text.padEnd(Math.min(Number(minLength), MOST_BYTES), '.').slice(0, Number(maxLength));
}

function sampleNumber({ minimum, exclusiveMinimum, maximum, multipleOf }: JsonObject): number {
  const least = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : Number(minimum ?? 1);
  const value = typeof multipleOf === 'number' ? Math.ceil(least / multipleOf) * multipleOf : least;
  return typeof maximum === 'number' ? Math.min(value, maximum) : value;
}
