import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';

import type { JsonValue } from '../../src/common/json.js';
import { type ApiDocument, resolved, type Schema } from './document.js';
import { knownOf, type KnownValues } from './schema-values.js';

/** A value that the document does not allow, one step beyond its schema. */
export interface InvalidValue {
  /** The place and the error: `filters.type_names: 51 items`. */
  what: string;
  value: JsonValue;
}

/** Texts of which one breaks any pattern and any format. */
const ODD_TEXTS = [
  '\0',
  'a\0b',
  '"',
  ' ',
  'a b',
  'é',
  'none',
  'P',
  'PT',
  'P1Y',
  'whsec_no-base64-at-all',
  'ftp://example.com/',
  'https://user@example.com/',
];

/** Takes a value that a schema allows and makes each place invalid, in each way that the document excludes. */
export class InvalidValues {
  private readonly ajv = addFormats.default(new Ajv({ strict: false, unicodeRegExp: true }));

  constructor(
    private readonly document: ApiDocument,
    private readonly known: KnownValues,
  ) {
    this.ajv.addSchema(document, 'api');
  }

  /** `validate` decides: a value that is invalid for one alternative may be valid for another. */
  of(schema: Schema, name = ''): InvalidValue[] {
    const validate = this.compiled(schema);
    return this.within(schema, name).filter(({ value }) => !validate(value));
  }

  /** Returns a value that the schema allows, as small as possible. */
  valid(schema: Schema, name = ''): JsonValue {
    const plain = resolved(schema, this.document);
    const known = knownOf(this.known, name, plain)?.[0];
    if (known !== undefined) return known;
    const {
      type,
      properties = {},
      required = [],
      items,
      minItems = 0,
      enum: choices,
      example,
      oneOf,
      anyOf,
      allOf,
      minimum = 0,
    } = plain;
    const [alternative] = oneOf ?? anyOf ?? [];
    if (alternative && !type) return this.valid(alternative);
    if (allOf) return this.valid(allOf[0]!);
    if (type === 'object') {
      const names = [...required, ...(alternative?.required ?? [])];
      return Object.fromEntries(names.map((field) => [field, this.valid(properties[field]!, field)]));
    }
    if (type === 'array') return Array.from({ length: minItems }, () => this.valid(items!));
    if (choices) return choices[0]!;
    return (
      (example as JsonValue | undefined) ?? { string: 'a', integer: minimum, number: minimum, boolean: true }[type!]
    );
  }

  private compiled(schema: Schema): ValidateFunction {
    return this.ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')) as object);
  }

  private within(schema: Schema, name = ''): InvalidValue[] {
    const plain = resolved(schema, this.document);
    const { type, oneOf, anyOf, allOf, properties, additionalProperties, items } = plain;
    const own = [...wrongTypes(plain), ...bounds(plain), ...this.wrongCounts(plain, name)];
    const inner = [
      ...(properties ? this.ofFields(plain, properties, name) : []),
      ...(type === 'array'
        ? this.within(items!).map(({ what, value }) => ({ what: `[0]${what}`, value: [value] }))
        : []),
      ...(typeof additionalProperties === 'object'
        ? this.within(additionalProperties).map(({ what, value }) => ({ what: `.any${what}`, value: { any: value } }))
        : []),
      ...[...(oneOf ?? anyOf ?? []), ...(allOf ?? [])].flatMap((one) =>
        one.properties || one.$ref || one.type ? this.within(one, name) : [],
      ),
    ];
    return [...own, ...inner];
  }

  private ofFields(schema: Schema, properties: Record<string, Schema>, name: string): InvalidValue[] {
    const value = this.valid(schema, name) as Record<string, JsonValue>;
    const alternatives = (schema.oneOf ?? []).flatMap(({ required = [] }) => required);
    const all = {
      what: ' with all alternatives',
      value: {
        ...value,
        ...Object.fromEntries(alternatives.map((field) => [field, this.valid(properties[field]!, field)])),
      },
    };
    const needed = [...alternatives, ...(schema.anyOf ?? []).flatMap(({ required = [] }) => required)];
    const none = {
      what: ' without an alternative',
      value: Object.fromEntries(Object.entries(value).filter(([key]) => !needed.includes(key))),
    };
    const without = (schema.required ?? []).map((field) => ({
      what: ` without ${field}`,
      value: Object.fromEntries(Object.entries(value).filter(([key]) => key !== field)),
    }));
    const unknown = { what: ' with an unknown field', value: { ...value, visibilty: { kind: 'Public' } } };
    const inside = Object.entries(properties).flatMap(([field, one]) =>
      this.within(one, field).map((inner) => ({
        what: `.${field}${inner.what}`,
        value: { ...(alternatives.includes(field) ? none.value : value), [field]: inner.value },
      })),
    );
    return [...without, unknown, all, none, ...inside];
  }

  private wrongCounts({ type, items, minItems = 0, maxItems }: Schema, name: string): InvalidValue[] {
    if (type !== 'array') return [];
    const [known] = knownOf(this.known, name, { type, items }) ?? [];
    const item = (known as JsonValue[] | undefined)?.[0] ?? this.valid(items!);
    const many = (count: number): InvalidValue => ({
      what: `: ${count} items`,
      value: Array.from({ length: count }, () => item),
    });
    return [...(minItems > 0 ? [many(minItems - 1)] : []), ...(maxItems !== undefined ? [many(maxItems + 1)] : [])];
  }
}

function wrongTypes({ type, nullable }: Schema): InvalidValue[] {
  if (!type) return [];
  const others: JsonValue[] = [true, 1, 1.5, '1', 'true', [], {}];
  const wrong = nullable ? others : [...others, null];
  return wrong.map((value) => ({ what: `: ${JSON.stringify(value)} as ${type}`, value }));
}

function bounds({
  type,
  minimum,
  maximum,
  minLength = 0,
  maxLength,
  pattern,
  format,
  enum: choices,
  example = 'a',
}: Schema): InvalidValue[] {
  if (type === 'integer' || type === 'number') {
    const step = type === 'integer' ? 1 : 0.001;
    const beyond = [
      minimum === undefined ? [] : [minimum - step],
      maximum === undefined ? [] : [maximum + step],
    ].flat();
    return beyond.map((value) => ({ what: `: ${value}`, value }));
  }
  if (type !== 'string') return [];
  const text = String(example);
  const lengths = [...(minLength > 0 ? [minLength - 1] : []), ...(maxLength !== undefined ? [maxLength + 1] : [])];
  const sized = lengths.map((length) => ({
    what: `: ${length} characters`,
    value: text.slice(0, length).padEnd(length, 'a'),
  }));
  const odd = pattern !== undefined || format !== undefined || choices ? ODD_TEXTS : [];
  return [...sized, ...odd.map((value) => ({ what: `: ${JSON.stringify(value)}`, value }))];
}
