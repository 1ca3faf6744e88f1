import type { ArtifactType } from '../../src/catalog/definitions.js';
import { load, problemOf, problemTexts } from './loading.js';

async function typeWith(schema: object): Promise<ArtifactType> {
  const { catalog } = await load(JSON.stringify({ types: { T: { schema } } }));
  return catalog.type('T')!;
}

describe("payloads and their type's schema", () => {
  test.each<[string, object, unknown, string | null]>([
    ['one that fits', { required: ['text'], properties: { text: { type: 'string' } } }, { text: 'hi' }, null],
    ['a wrong type', { properties: { text: { type: 'string' } } }, { text: 1 }, 'payload.text: must be string'],
    ['a missing field', { required: ['text'] }, {}, 'payload.text: is required'],
    [
      'an unknown field',
      { additionalProperties: false, properties: { text: {} } },
      { txt: 1 },
      'payload.txt: is not a known key; did you mean text?',
    ],
    [
      'a field deep inside',
      { properties: { a: { type: 'array', items: { properties: { b: { type: 'integer' } } } } } },
      { a: [{ b: 1 }, { b: 1.5 }] },
      'payload.a[1].b: must be integer',
    ],
    [
      'a digit as a key',
      { properties: { a: { additionalProperties: { type: 'string' } } } },
      { a: { 0: 1 } },
      'payload.a.0: must be string',
    ],
    [
      'a key that must be quoted',
      { additionalProperties: { type: 'string' } },
      { 'a b/c~d': 1 },
      'payload["a b/c~d"]: must be string',
    ],
    [
      'a format',
      { properties: { mail: { format: 'email' } } },
      { mail: 'x' },
      'payload.mail: must match format "email"',
    ],
    [
      'a choice',
      { properties: { queue: { enum: ['a', 'b'] } } },
      { queue: 'c' },
      'payload.queue: must be one of "a", "b"',
    ],
    ['a value that is not an object', {}, 'text', 'payload: must be object'],
    [
      'an object with keys that mean something to JavaScript, not the wanted one',
      { properties: { v: { const: { a: 1 } } } },
      JSON.parse('{"v":{"valueOf":2,"toString":"x"}}'),
      'payload.v: must be {"a":1}',
    ],
    [
      'such an object among several',
      { properties: { v: { enum: [{ a: 1 }, 'b'] } } },
      JSON.parse('{"v":{"constructor":{},"__proto__":{"a":1}}}'),
      'payload.v: must be one of {"a":1}, "b"',
    ],
    ['a name that objects inherit, absent', { required: ['constructor'] }, {}, 'payload.constructor: is required'],
    ['a name that objects inherit, unasked', { properties: { toString: { type: 'string' } } }, {}, null],
    [
      'the name __proto__, which a pattern checks',
      { patternProperties: { '^__proto__$': { type: 'string' } }, additionalProperties: false },
      JSON.parse('{"__proto__":1}'),
      'payload.__proto__: must be string',
    ],
    ...['constructor', 'toString', '__proto__'].map((name): [string, object, unknown, string] => [
      `the name ${name} beside anyOf, unevaluated`,
      { anyOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
      JSON.parse(`{"a":1,"${name}":1}`),
      `payload.${name}: is not allowed`,
    ]),
    [
      'names that objects inherit, evaluated by anyOf or a reference',
      {
        anyOf: [{ properties: { constructor: {} } }, { $ref: '#/$defs/other' }],
        unevaluatedProperties: false,
        $defs: { other: { properties: { toString: {} } } },
      },
      { constructor: 1, toString: 1 },
      null,
    ],
    [
      'draft 2020-12 unless it says otherwise',
      { properties: { a: { prefixItems: [{ type: 'string' }] } } },
      { a: [1] },
      'payload.a[0]: must be string',
    ],
    [
      'a recursive schema',
      {
        $ref: '#/$defs/node',
        $defs: { node: { properties: { next: { $ref: '#/$defs/node' }, n: { type: 'number' } } } },
      },
      { next: { next: { n: 'x' } } },
      'payload.next.next.n: must be number',
    ],
    ['an unknown keyword', { 'x-owner': 'us', properties: { a: { example: 1 } } }, { a: 1 }, null],
  ])('%s', async (_, schema, payload, expected) => {
    expect(problemOf(await typeWith(schema), payload)).toBe(expected);
  });

  test.each(['properties', 'patternProperties', 'dependencies'])(
    'must not be described under the name __proto__ in %s, because it would not be checked',
    async (keyword) => {
      const schema = `{"type":"object","properties":{"a":{"${keyword}":{"__proto__":{"type":"string"}}}}}`;
      expect(await problemTexts(`{"types":{"T":{"schema":${schema}}}}`)).toEqual([
        `types.T.schema.properties.a.${keyword}.__proto__: is not checked under this name; use patternProperties with "^__proto__$"`,
      ]);
    },
  );

  test('accept draft-07 if $schema says so', async () => {
    const type = await typeWith({
      $schema: 'http://json-schema.org/draft-07/schema#',
      properties: { a: { items: [{ type: 'string' }] } },
    });
    expect(problemOf(type, { a: [1] })).toBe('payload.a[0]: must be string');
  });

  test('report several errors together', async () => {
    const type = await typeWith({ required: ['a', 'b'], properties: { a: { type: 'string' } } });
    expect(problemOf(type, { a: 1 })).toBe('payload.b: is required; payload.a: must be string');
  });

  test('shorten a long list of errors', async () => {
    const type = await typeWith({ additionalProperties: { type: 'string' } });
    const payload = Object.fromEntries(Array.from({ length: 50 }, (_, position) => [`k${position}`, 1]));
    const message = problemOf(type, payload)!;
    expect(message.split('; ')).toHaveLength(11);
    expect(message).toMatch(/; and 40 more$/);
    expect(problemOf(type, { ['k'.repeat(5_000)]: 1 })!.length).toBeLessThan(1_100);
  });

  test('refuse a large payload by its first error, without collecting half a million', async () => {
    const type = await typeWith({ properties: { a: { type: 'array', items: { type: 'string' } } } });
    const payload = { a: Array.from({ length: 500_000 }, () => 1) };
    const before = process.memoryUsage().heapUsed;
    expect(problemOf(type, payload)).toBe('payload.a[0]: must be string');
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(30_000_000);
  });

  test('allow two types with the same $id', async () => {
    const schema = {
      $id: 'https://example.com/same',
      type: 'object',
      properties: { a: { $id: 'inner', type: 'string' } },
    };
    const { catalog } = await load(
      JSON.stringify({ types: { A: { schema }, B: { schema: { ...schema, required: ['a'] } } } }),
    );
    expect(problemOf(catalog.type('A')!, {})).toBeNull();
    expect(problemOf(catalog.type('B')!, {})).toBe('payload.a: is required');
  });
});
