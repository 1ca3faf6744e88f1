// A schema's verdict on a payload equals that of plain Ajv, for the parts that Starling implements itself: references
// of a schema to itself, and uniqueItems.
import { isDeepStrictEqual } from 'node:util';

import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';

import { compilePayloadSchema, type PayloadValidator } from '../../src/catalog/schemas/payload-schema.js';
import type { JsonObject, JsonValue } from '../../src/common/json.js';
import { printedSeed } from '../support/random.js';

function validator(schema: JsonObject): PayloadValidator {
  const compiled = compilePayloadSchema(schema);
  if ('errors' in compiled) throw new Error(`${JSON.stringify(schema)}: ${JSON.stringify(compiled.errors)}`);
  return compiled.validate;
}

const STEPS_DOWN = ['properties', 'additionalProperties'];

describe('a schema that refers to itself', () => {
  const name = fc.constantFrom('x', 'y', 'z');
  const reference = fc.constantFrom<JsonObject>({ $ref: '#/$defs/one' }, { $ref: '#/$defs/other' }, { $ref: '#' });
  const { part } = fc.letrec<{ part: JsonObject; parts: JsonObject[] }>((tie) => ({
    parts: fc.array(tie('part'), { minLength: 1, maxLength: 2 }),
    part: fc.oneof(
      { maxDepth: 2, depthIdentifier: 'part' },
      fc.oneof(
        reference,
        name.map((key): JsonObject => ({ required: [key] })),
        fc
          .tuple(name, fc.constantFrom('a', 'b'))
          .map(([key, value]): JsonObject => ({ properties: { [key]: { const: value } } })),
        fc.tuple(name, reference).map(([key, schema]): JsonObject => ({ properties: { [key]: schema } })),
        reference.map((schema): JsonObject => ({ type: ['object', 'string'], additionalProperties: schema })),
      ),
      tie('parts').map((anyOf): JsonObject => ({ anyOf })),
      tie('parts').map((oneOf): JsonObject => ({ oneOf })),
      tie('parts').map((allOf): JsonObject => ({ allOf })),
      tie('part').map((not): JsonObject => ({ not })),
      fc.tuple(tie('part'), tie('part')).map(([first, then]): JsonObject => ({ if: first, then })),
      tie('part').map((inner): JsonObject => ({ ...inner, unevaluatedProperties: false })),
    ),
  }));
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'value' },
      fc.constantFrom<JsonValue>('a', 'b', 1),
      fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }) as fc.Arbitrary<JsonValue>,
    ),
  }));

  // A reference that leads back to its own place without a step down never terminates in any validator.
  const ends = ([root, one, other]: [JsonObject, JsonObject, JsonObject]): boolean => {
    const targets: Record<string, JsonObject> = { '#': root, '#/$defs/one': one, '#/$defs/other': other };
    const visit = (schema: JsonValue, on: string[]): boolean => {
      if (Array.isArray(schema)) return schema.every((each) => visit(each, on));
      if (typeof schema !== 'object' || schema === null) return true;
      const { $ref: target, ...others } = schema;
      if (typeof target === 'string' && (on.includes(target) || !visit(targets[target]!, [...on, target])))
        return false;
      return Object.entries(others).every(([keyword, each]) => STEPS_DOWN.includes(keyword) || visit(each, on));
    };
    return visit(root, ['#']) && visit(one, ['#/$defs/one']) && visit(other, ['#/$defs/other']);
  };

  it.each<[string, JsonObject, JsonObject]>([
    [
      'a circle of two',
      { one: { anyOf: [{ $ref: '#/$defs/other' }, { required: ['x'] }] }, other: { oneOf: [{ $ref: '#/$defs/one' }] } },
      { allOf: [{ $ref: '#/$defs/one' }] },
    ],
    [
      'a circle below a property',
      { one: { allOf: [{ $ref: '#/$defs/one' }] } },
      { properties: { x: { $ref: '#/$defs/one' } } },
    ],
  ])('is refused for %s', (_what, $defs, root) => {
    expect(compilePayloadSchema({ ...root, $defs })).toEqual({
      errors: expect.arrayContaining([
        expect.objectContaining({ message: expect.stringContaining('leads back to itself') }),
      ]),
    });
  });

  it('accepts what plain Ajv accepts', () => {
    const verdicts = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(
        fc.tuple(part, part, part).filter(ends),
        fc.array(fc.dictionary(name, value, { maxKeys: 3, noNullPrototype: true }), { minLength: 5, maxLength: 5 }),
        ([root, one, other], payloads) => {
          const schema = { ...root, $defs: { one, other } };
          const plain = new Ajv2020({ strict: false, validateSchema: false }).compile(schema);
          const ours = validator(schema);
          for (const payload of payloads) {
            const expected = plain(payload);
            verdicts[expected ? 'accepted' : 'refused'] += 1;
            if ((ours(payload).length === 0) !== expected)
              throw new Error(`${JSON.stringify(schema)} on ${JSON.stringify(payload)}: must be ${expected}`);
          }
        },
      ),
      { seed: printedSeed(), numRuns: 1_000 },
    );
    expect(Math.min(verdicts.accepted, verdicts.refused)).toBeGreaterThan(500);
  });
});

const reordered = (value: JsonValue): JsonValue =>
  typeof value !== 'object' || value === null
    ? value
    : Array.isArray(value)
      ? value.map(reordered)
      : Object.fromEntries(
          Object.entries(value)
            .reverse()
            .map(([key, inner]) => [key, reordered(inner)]),
        );

it('items are unique if no two are equal', () => {
  const item = fc.jsonValue({
    maxDepth: 2,
    stringUnit: fc.constantFrom('a', '1', '"', '='),
  }) as fc.Arbitrary<JsonValue>;
  const validate = validator({ properties: { list: { uniqueItems: true } } });
  fc.assert(
    fc.property(fc.array(item, { maxLength: 5 }), fc.boolean(), (items, again) => {
      const list = again && items.length > 0 ? [...items, reordered(items[0]!)] : items;
      // JSON knows one zero.
      const texts = list.map((each) => JSON.parse(JSON.stringify(each)) as JsonValue);
      const same = texts.some((each, position) =>
        texts.slice(0, position).some((earlier) => isDeepStrictEqual(each, earlier)),
      );
      expect(validate({ list }).length > 0).toBe(same);
    }),
    { seed: printedSeed(), numRuns: 1_000 },
  );
});

describe('nested lists whose items must be unique', () => {
  const schema = {
    properties: { list: { $ref: '#/$defs/set' } },
    $defs: {
      set: { uniqueItems: true, items: { $ref: '#/$defs/set' }, additionalProperties: { $ref: '#/$defs/set' } },
    },
  };
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<JsonValue>(
        0,
        1,
        -1,
        1e30,
        '',
        '0',
        '#0',
        '=1',
        '\ud800',
        '\udfff',
        '\ufffd',
        'x'.repeat(20_000),
        `${'x'.repeat(19_999)}y`,
        true,
        false,
        null,
      ),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', '1', 'a,b', '\ud800'), tie('value'), {
        maxKeys: 3,
        noNullPrototype: true,
      }) as fc.Arbitrary<JsonValue>,
    ),
  }));

  it('get the verdict of plain Ajv', () => {
    const plain = new Ajv2020({ strict: false }).compile(schema);
    const ours = validator(schema);
    const verdicts = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), fc.nat(3), (items, again) => {
        const list = again === 0 ? [...items, [reordered(items[0]!)], [items[0]!]] : items;
        const expected = plain({ list });
        verdicts[expected ? 'accepted' : 'refused'] += 1;
        expect(ours({ list }).length === 0).toBe(expected);
      }),
      { seed: printedSeed(), numRuns: 2_000 },
    );
    expect(Math.min(verdicts.accepted, verdicts.refused)).toBeGreaterThan(200);
  });

  it('take about as long on 58 levels as on one', () => {
    const validate = validator(schema);
    const nested = (levels: number, inmost: JsonValue): JsonValue =>
      levels === 0 ? inmost : [nested(levels - 1, inmost)];
    const shortest = (levels: number): number => {
      const list = nested(
        levels,
        Array.from({ length: 50_000 }, (_, n) => ({ n })),
      );
      const times = Array.from({ length: 5 }, () => {
        const begun = performance.now();
        expect(validate({ list })).toEqual([]);
        return performance.now() - begun;
      });
      return Math.min(...times);
    };
    // Work on each level would take 58 times as long; a busy machine disturbs one of both.
    expect(shortest(58)).toBeLessThan(15 * shortest(1));
  });
});
