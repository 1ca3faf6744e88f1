// For schemas and payloads at random: filling in defaults adds what Ajv's `useDefaults` adds, and nothing the second time.
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';

import { GrowthLimit } from '../../src/catalog/growth-limit.js';
import { compilePayloadSchema } from '../../src/catalog/schemas/payload-schema.js';
import { SchemaDefaults } from '../../src/catalog/schemas/schema-defaults.js';
import type { JsonObject, JsonValue } from '../../src/common/json.js';
import { printedSeed } from '../support/random.js';

const LIMIT = 100_000;

function filler(schema: JsonObject): (payload: JsonObject, limitBytes?: number) => JsonObject | null {
  const compiled = compilePayloadSchema(schema);
  if ('errors' in compiled) throw new Error(`${JSON.stringify(schema)}: ${JSON.stringify(compiled.errors)}`);
  const defaults = new SchemaDefaults(schema, compiled.lookup);
  return (payload, limitBytes = LIMIT) => {
    const filled = defaults.fill(payload, new GrowthLimit(limitBytes));
    return 'problem' in filled ? null : filled.value;
  };
}

// The default depends on the name alone: which of two defaults wins is not what this compares. `a` holds no default, so all of them end.
const DEFAULTS: Record<string, JsonValue> = { object: { a: {} }, list: [{ a: 1 }, {}], text: 'é', number: 0 };
const name = fc.constantFrom('object', 'list', 'text', 'number', 'a');

const { part } = fc.letrec<{ part: JsonObject; parts: JsonObject[]; named: JsonObject }>((tie) => ({
  named: fc.array(fc.tuple(name, fc.boolean(), tie('part')), { maxLength: 3 }).map((entries): JsonObject => ({
    properties: Object.fromEntries(
      entries.map(([key, isFilled, schema]) => [
        key,
        isFilled && Object.hasOwn(DEFAULTS, key) ? { ...schema, default: DEFAULTS[key]! } : schema,
      ]),
    ),
  })),
  parts: fc.array(tie('part'), { minLength: 1, maxLength: 3 }),
  part: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'part' },
    fc.constantFrom<JsonObject>({}, { $ref: '#/$defs/one' }, { $ref: '#/$defs/other' }),
    tie('named'),
    tie('named'),
    fc.tuple(tie('named'), tie('part')).map(([named, additionalProperties]) => ({ ...named, additionalProperties })),
    fc.tuple(tie('named'), tie('part')).map(([named, below]) => ({ ...named, patternProperties: { '^[al]': below } })),
    tie('part').map((items): JsonObject => ({ items })),
    fc.tuple(tie('parts'), tie('part')).map(([prefixItems, items]): JsonObject => ({ prefixItems, items })),
    fc.tuple(tie('named'), tie('parts')).map(([named, allOf]): JsonObject => ({ ...named, allOf })),
  ),
}));

const { payload } = fc.letrec<{ payload: JsonObject; value: JsonValue }>((tie) => ({
  payload: fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonValue>(null, 'x', 1),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('payload'),
  ),
}));

/** Fills until nothing changes: Ajv does not fill again what a later part of the schema adds. */
function filledByAjv(schema: JsonObject, given: JsonObject): JsonObject | null {
  const validate = new Ajv2020({ strict: false, useDefaults: true, validateSchema: false }).compile(schema);
  const value = structuredClone(given);
  for (let before = ''; before !== JSON.stringify(value);) {
    before = JSON.stringify(value);
    if (before.length > LIMIT) return null;
    validate(value);
  }
  return value;
}

const canonical = (value: JsonValue): unknown =>
  typeof value !== 'object' || value === null
    ? value
    : Array.isArray(value)
      ? value.map(canonical)
      : Object.entries(value)
          .map(([key, inner]) => [key, canonical(inner)])
          .sort(([one], [other]) => String(one).localeCompare(String(other)));

/** Targets refer to nothing, so every schema ends. */
const leaf = fc.oneof(
  fc.constant<JsonObject>({}),
  name.map((key): JsonObject => ({
    properties: { [key]: DEFAULTS[key] === undefined ? {} : { default: DEFAULTS[key]! } },
  })),
);

it('fills what Ajv fills, into a copy, and nothing the second time', () => {
  let changed = 0;
  fc.assert(
    fc.property(part, leaf, leaf, fc.array(payload, { minLength: 4, maxLength: 4 }), (root, one, other, payloads) => {
      const schema = { ...root, $defs: { one, other } };
      const fill = filler(schema);
      for (const given of payloads) {
        const before = JSON.stringify(given);
        const expected = filledByAjv(schema, given);
        const filled = fill(given);
        expect(filled && canonical(filled)).toEqual(expected && canonical(expected));
        expect(JSON.stringify(given)).toBe(before);
        if (filled === null) continue;
        if (filled === given) expect(JSON.stringify(filled)).toBe(before);
        else changed += 1;
        expect(fill(filled)).toBe(filled);
        const bytes = Buffer.byteLength(JSON.stringify(filled));
        expect(fill(given, bytes)).toEqual(filled);
        if (filled !== given) expect(fill(given, bytes - 1)).toBeNull();
      }
    }),
    { seed: printedSeed(), numRuns: 300 },
  );
  expect(changed).toBeGreaterThan(150);
});
