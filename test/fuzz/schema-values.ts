import fc from 'fast-check';

import type { JsonValue } from '../../src/common/json.js';
import { type ApiDocument, resolved, type Schema } from './document.js';

/** Values that the running service knows, by the name of their field: its types, its agents, ids that exist. */
export type KnownValues = Record<string, readonly JsonValue[]>;

/** Returns those that a field may have: `output` is the name of a type in one request, and a payload in another. */
export function knownOf(
  known: KnownValues,
  name: string,
  { type, items }: Pick<Schema, 'type' | 'items'>,
): readonly JsonValue[] | undefined {
  const isPayload = type === 'object' || items?.type === 'object';
  const fitting = known[name]?.filter((value) => !isPayload || typeof value === 'object');
  return fitting?.length ? fitting : undefined;
}

/** Makes values that a schema of the document allows. */
export class SchemaValues {
  constructor(
    private readonly document: ApiDocument,
    private readonly known: KnownValues,
  ) {}

  /** `name` is that of the field. Most values are known ones, if there are any: any other type name is only refused. */
  of(schema: Schema, name = ''): fc.Arbitrary<JsonValue> {
    const known = this.known[name];
    const any = this.ofType(resolved(schema, this.document));
    return known ? fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: any }) : any;
  }

  private ofType(schema: Schema): fc.Arbitrary<JsonValue> {
    // Beside properties, alternatives say which of them are required.
    const alternatives = schema.oneOf ?? schema.allOf ?? schema.anyOf;
    if (alternatives && !schema.properties) return fc.oneof(...alternatives.map((one) => this.of(one)));
    const value = this.ofPlainType(schema);
    return schema.nullable ? fc.option(value, { freq: 5 }) : value;
  }

  private ofPlainType(schema: Schema): fc.Arbitrary<JsonValue> {
    switch (schema.type) {
      case 'string':
        return textOf(schema);
      case 'integer':
        return fc.integer({ min: schema.minimum, max: schema.maximum });
      case 'number':
        return fc.double({ min: schema.minimum, max: schema.maximum, noNaN: true, noDefaultInfinity: true });
      case 'boolean':
        return fc.boolean();
      case 'array':
        return fc.array(this.of(schema.items!), { maxLength: Math.min(schema.maxItems ?? 4, 4) });
      default:
        if (schema.additionalProperties === false && !schema.properties) return fc.constant({});
        return schema.properties
          ? this.objectOf(schema, schema.properties)
          : (fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonValue>);
    }
  }

  private objectOf({ required = [] }: Schema, properties: Record<string, Schema>): fc.Arbitrary<JsonValue> {
    const fields = Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, this.of(schema, name)]),
    );
    // A publish with a webhook is nearly always refused because of its URL, so most have none.
    const optional = Object.keys(fields).filter((name) => !required.includes(name));
    const named = fc.record(fields, { requiredKeys: [...required] }) as fc.Arbitrary<Record<string, JsonValue>>;
    return fc.tuple(named, fc.subarray(optional)).map(([value, left]) => without(value, left));
  }
}

const without = (value: Record<string, JsonValue>, names: string[]): JsonValue =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));

function textOf({
  enum: choices,
  format,
  pattern,
  example,
  minLength = 0,
  maxLength = 40,
}: Schema): fc.Arbitrary<string> {
  if (choices) return fc.constantFrom(...choices);
  if (format === 'uuid') return fc.uuid();
  if (format === 'date-time')
    return fc
      .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString());
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern), { maxLength });
  const text = fc.string({ minLength, maxLength, unit: 'grapheme' });
  return typeof example === 'string' ? fc.oneof(fc.constant(example), text) : text;
}
