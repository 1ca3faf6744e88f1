import fc from 'fast-check';

import type { JsonValue } from '../../src/common/json.js';
import { type ApiDocument, resolved, type Schema } from './document.js';
import { knownOf, type KnownValues } from './schema-values.js';

/** Beyond any reasonable value without a documented bound. */
const LONG = 3_000;
const MANY = 150;

/**
 * Makes values that a schema of the document allows, often at its bounds: if the document has none, long texts, many
 * items and large numbers. Fields with known values have one of these, because any other agent or type is unknown.
 */
export class ValidValues {
  constructor(
    private readonly document: ApiDocument,
    private readonly known: KnownValues,
  ) {}

  of(schema: Schema, name = ''): fc.Arbitrary<JsonValue> {
    const plain = resolved(schema, this.document);
    const known = knownOf(this.known, name, plain);
    return known ? fc.constantFrom(...known) : this.ofType(plain);
  }

  private ofType(schema: Schema): fc.Arbitrary<JsonValue> {
    const { oneOf, allOf, anyOf, properties } = schema;
    if (anyOf && properties)
      return fc.oneof(...anyOf.map(({ required }) => this.ofType(withRequired(schema, required))));
    if (oneOf && properties) return fc.oneof(...oneOf.map((one) => this.ofType(alternative(schema, one))));
    const alternatives = oneOf ?? allOf ?? anyOf;
    if (alternatives) return fc.oneof(...alternatives.map((one) => this.of(one)));
    const value = this.ofPlainType(schema);
    return schema.nullable ? fc.option(value, { freq: 5 }) : value;
  }

  private ofPlainType(schema: Schema): fc.Arbitrary<JsonValue> {
    switch (schema.type) {
      case 'string':
        return validText(schema);
      case 'integer':
        return validInteger(schema);
      case 'number':
        return validNumber(schema);
      case 'boolean':
        return fc.boolean();
      case 'array':
        return this.listOf(schema);
      default:
        return schema.properties ? this.objectOf(schema, schema.properties) : this.dictionaryOf(schema);
    }
  }

  private listOf({ items, minItems = 0, maxItems = MANY }: Schema): fc.Arbitrary<JsonValue> {
    const item = this.of(items!);
    const few = { minLength: minItems, maxLength: Math.max(minItems, Math.min(3, maxItems)) };
    return fc.oneof(
      { weight: 3, arbitrary: fc.array(item, few) },
      { weight: 1, arbitrary: item.map((one) => Array.from({ length: Math.min(maxItems, MANY) }, () => one)) },
    );
  }

  private objectOf(
    { required = [], additionalProperties }: Schema,
    properties: Record<string, Schema>,
  ): fc.Arbitrary<JsonValue> {
    const fields = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, this.of(one, name)]));
    const named = fc.record(fields) as fc.Arbitrary<Record<string, JsonValue>>;
    const optional = Object.keys(fields).filter((name) => !required.includes(name));
    const others = additionalProperties === false ? fc.constant({}) : fc.constantFrom({}, {}, {}, { colour: ['red'] });
    return fc
      .tuple(named, fc.subarray(optional, { maxLength: Math.min(3, optional.length) }), others)
      .map(([value, kept, unknown]) => ({ ...only(value, [...required, ...kept]), ...unknown }));
  }

  private dictionaryOf({ additionalProperties }: Schema): fc.Arbitrary<JsonValue> {
    if (additionalProperties === false) return fc.constant({});
    const value =
      typeof additionalProperties === 'object'
        ? this.of(additionalProperties)
        : (fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>);
    return fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), value, { maxKeys: 4 });
  }
}

/** Returns the required keys of one alternative beside the properties that all share. */
function alternative(schema: Schema, { required = [] }: Schema): Schema {
  const others = schema.oneOf!.flatMap((one) => one.required ?? []).filter((name) => !required.includes(name));
  const properties = Object.fromEntries(Object.entries(schema.properties!).filter(([name]) => !others.includes(name)));
  return { ...schema, oneOf: undefined, properties, required: [...(schema.required ?? []), ...required] };
}

/** Requires some more keys, instead of those of one alternative. */
const withRequired = (schema: Schema, required: string[] = []): Schema => ({
  ...schema,
  anyOf: undefined,
  required: [...(schema.required ?? []), ...required],
});

const only = (value: Record<string, JsonValue>, names: string[]): Record<string, JsonValue> =>
  Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));

const validInteger = ({ minimum = -Infinity, maximum = Infinity }: Schema): fc.Arbitrary<number> =>
  fc.oneof(
    fc.constantFrom(Math.max(minimum, Number.MIN_SAFE_INTEGER), Math.min(maximum, Number.MAX_SAFE_INTEGER)),
    fc.maxSafeInteger().map((number) => Math.min(Math.max(number, minimum), maximum)),
  );

const validNumber = ({ minimum = -1e300, maximum = 1e300 }: Schema): fc.Arbitrary<number> =>
  fc.oneof(fc.constantFrom(minimum, maximum), fc.double({ min: minimum, max: maximum, noNaN: true }));

/** Characters are code points, as JSON Schema counts them. */
export const characters = (text: string): number => [...text].length;

function validText(schema: Schema): fc.Arbitrary<string> {
  const { enum: choices, format, pattern } = schema;
  if (choices) return fc.constantFrom(...choices);
  if (format === 'uuid') return anyUuid;
  if (format === 'date-time') return anyTimestamp;
  if (format === 'uri') return validUrl(schema);
  return pattern === undefined ? anyText(schema) : matchingText(schema, pattern);
}

/** Any version: the format requires only the form. */
const anyUuid = fc.stringMatching(/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-fA-F]{12}$/);

/** Returns a time as in RFC 3339, section 5.6. */
const anyTimestamp = fc
  .tuple(
    fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-30'), noInvalidDate: true }),
    fc.constantFrom('', '.5', '.123456789123'),
    fc.constantFrom('Z', 'z', '+00:00', '-00:00', '+05:30', '-23:59'),
    fc.boolean(),
  )
  .map(([date, fraction, zone, isLeap]) =>
    `${date.toISOString().slice(0, 19)}${fraction}${zone}`.replace(/T\d\d:\d\d:\d\d/, (time) =>
      isLeap ? 't23:59:60' : time,
    ),
  );

function validUrl({ pattern = '', maxLength = LONG }: Schema): fc.Arbitrary<string> {
  const url = fc.webUrl({ validSchemes: ['http', 'https'], withQueryParameters: true });
  const longest = url.map((text) => `${text.replace(/[?].*/, '')}/`.padEnd(maxLength, 'a'));
  return fc
    .oneof({ weight: 3, arbitrary: url }, { weight: 1, arbitrary: longest })
    .filter((text) => new RegExp(pattern, 'u').test(text) && text.length <= maxLength);
}

function anyText({ minLength = 0, maxLength = LONG }: Schema): fc.Arbitrary<string> {
  const short = fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 20)), unit: 'binary' });
  const longest = fc.constantFrom('a', '\u00e9', '\u{1f426}').map((one) => one.repeat(maxLength));
  return fc.oneof({ weight: 4, arbitrary: short }, { weight: 1, arbitrary: longest });
}

function matchingText(schema: Schema, pattern: string): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = LONG } = schema;
  const allowed = new RegExp(pattern, 'u');
  const made = fc
    .stringMatching(allowed, { maxLength: Math.min(maxLength, 60) })
    .map((text) => text + 'a'.repeat(Math.max(minLength - characters(text), 0)));
  // Fields that allow any character also get odd texts, at their full length.
  return fc
    .oneof(
      { weight: 2, arbitrary: made },
      {
        weight: 1,
        arbitrary: fc.tuple(anyText(schema), made).map(([text, other]) => (allowed.test(text) ? text : other)),
      },
    )
    .filter((text) => allowed.test(text) && characters(text) >= minLength && characters(text) <= maxLength);
}
