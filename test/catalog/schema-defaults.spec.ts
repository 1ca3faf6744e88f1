import { GrowthLimit } from '../../src/catalog/growth-limit.js';
import type { JsonObject } from '../../src/common/json.js';
import { load, problemOf, problemTexts } from './loading.js';

const LIMIT = 1_000;

const configuration = (schema: unknown, more: object = { defaults: true }): string =>
  JSON.stringify({ types: { T: { schema, ...more } } });

async function typeWith(schema: unknown) {
  const { catalog } = await load(configuration(schema));
  return catalog.type('T')!;
}

/** The payload as its type accepts it, as JSON. */
async function accepted(schema: unknown, payload: string, limit = new GrowthLimit(LIMIT)): Promise<string> {
  const answer = (await typeWith(schema)).accept(JSON.parse(payload), limit);
  return 'problem' in answer ? answer.problem : JSON.stringify(answer.payload);
}

const withDefault = (value: unknown): object => ({ properties: { a: { default: value } } });

describe('the defaults of a schema', () => {
  it.each<[string, object, string, string]>([
    ['fill a property that is absent', withDefault(1), '{"b":2}', '{"b":2,"a":1}'],
    ['leave a property that is null', withDefault(1), '{"a":null}', '{"a":null}'],
    ['are filled in before required properties are checked', { ...withDefault(1), required: ['a'] }, '{}', '{"a":1}'],
    [
      'are filled in inside of defaults',
      { properties: { a: { default: { c: 3 }, properties: { b: { default: 2 } } } } },
      '{}',
      '{"a":{"c":3,"b":2}}',
    ],
    [
      'are filled in inside of lists of defaults',
      { properties: { list: { default: [{}, {}], items: withDefault(1) } } },
      '{}',
      '{"list":[{"a":1},{"a":1}]}',
    ],
    [
      'fill the items of a list',
      { properties: { l: { items: withDefault(1) } } },
      '{"l":[{},[],{"a":2}]}',
      '{"l":[{"a":1},[],{"a":2}]}',
    ],
    [
      'fill the first items of a list apart from the others',
      { properties: { l: { prefixItems: [withDefault(1)], items: withDefault(2) } } },
      '{"l":[{},{},{}]}',
      '{"l":[{"a":1},{"a":2},{"a":2}]}',
    ],
    [
      'fill the first items of a list under their name in draft-07',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        properties: { l: { items: [withDefault(1)], additionalItems: withDefault(2) } },
      },
      '{"l":[{},{}]}',
      '{"l":[{"a":1},{"a":2}]}',
    ],
    [
      'do not add items to a list',
      { properties: { l: { prefixItems: [{ default: 1 }] }, a: { default: 2 } } },
      '{"l":[]}',
      '{"l":[],"a":2}',
    ],
    [
      'fill properties that have no schema of their own',
      { additionalProperties: withDefault(1) },
      '{"x":{},"y":1}',
      '{"x":{"a":1},"y":1}',
    ],
    [
      'fill only such properties from additionalProperties',
      { properties: { x: {} }, patternProperties: { '^p': {} }, additionalProperties: withDefault(1) },
      '{"x":{},"pq":{},"q":{}}',
      '{"x":{},"pq":{},"q":{"a":1}}',
    ],
    [
      'fill properties whose names match a pattern',
      { patternProperties: { '^p': withDefault(1) } },
      '{"pq":{},"q":{}}',
      '{"pq":{"a":1},"q":{}}',
    ],
    ['come from the target of $ref', { $ref: '#/$defs/one', $defs: { one: withDefault(1) } }, '{}', '{"a":1}'],
    [
      'come from the target of an anchor',
      { $ref: '#one', $defs: { one: { $anchor: 'one', ...withDefault(1) } } },
      '{}',
      '{"a":1}',
    ],
    [
      'come from all parts of allOf',
      { allOf: [withDefault(1), { properties: { b: { default: 2 } } }] },
      '{}',
      '{"a":1,"b":2}',
    ],
    [
      'come from the schema itself before $ref, and from $ref before allOf',
      {
        $ref: '#/$defs/one',
        allOf: [{ properties: { a: { default: 3 }, b: { default: 3 }, c: { default: 3 } } }],
        properties: { a: { default: 1 } },
        $defs: { one: { properties: { a: { default: 2 }, b: { default: 2 } } } },
      },
      '{}',
      '{"a":1,"b":2,"c":3}',
    ],
    [
      'of one part of allOf are filled further by the others',
      { properties: { a: { properties: { b: { default: 2 } } } }, allOf: [withDefault({})] },
      '{}',
      '{"a":{"b":2}}',
    ],
    [
      'fill a tree, as deep as the payload is',
      { properties: { next: { $ref: '#' }, n: { default: 0 } } },
      '{"next":{"next":{}}}',
      '{"next":{"next":{"n":0},"n":0},"n":0}',
    ],
    [
      'fill names that objects inherit',
      { properties: { constructor: { default: 2 }, toString: { default: 3 } } },
      '{}',
      '{"constructor":2,"toString":3}',
    ],
    [
      'are filled in below properties of any name',
      { properties: { constructor: withDefault(1) }, additionalProperties: withDefault(2) },
      '{"__proto__":{},"constructor":{}}',
      '{"__proto__":{"a":2},"constructor":{"a":1}}',
    ],
    [
      'in anyOf, oneOf, if and not are left out',
      {
        ...withDefault(1),
        anyOf: [{ properties: { b: { default: 1 } } }],
        oneOf: [{ properties: { c: { default: 1 } } }],
        if: { properties: { d: { default: 1 } } },
        then: { properties: { e: { default: 1 } } },
        not: { properties: { f: { default: 1 } }, required: ['f'] },
      },
      '{}',
      '{"a":1}',
    ],
    ['do not make another value an object', { properties: { x: withDefault(1) } }, '{"x":"text"}', '{"x":"text"}'],
  ])('%s', async (_, schema, payload, expected) => {
    expect(await accepted(schema, payload)).toBe(expected);
  });

  it('are filled into a copy, which shares what did not change', async () => {
    const payload = { kept: { list: [1] }, changed: {} };
    const answer = (await typeWith({ properties: { changed: withDefault(1) } })).accept(
      payload,
      new GrowthLimit(LIMIT),
    );
    const filled = (answer as { payload: JsonObject }).payload;
    expect([payload, filled]).toEqual([
      { kept: { list: [1] }, changed: {} },
      { kept: { list: [1] }, changed: { a: 1 } },
    ]);
    expect(filled.kept).toBe(payload.kept);
  });

  it('leave a payload without absent properties the same object', async () => {
    const payload = { a: 1 };
    expect((await typeWith(withDefault(2))).accept(payload, new GrowthLimit(LIMIT))).toEqual({ payload });
    expect(
      ((await typeWith(withDefault(2))).accept(payload, new GrowthLimit(LIMIT)) as { payload: object }).payload,
    ).toBe(payload);
  });

  it('are checked with the payload', async () => {
    const schema = { properties: { a: { default: 1 } }, maxProperties: 1 };
    expect(await accepted(schema, '{"b":1}')).toBe('payload: must NOT have more than 1 properties');
  });

  it('are not filled in unless the type asks for it', async () => {
    const { catalog } = await load(configuration(withDefault('wrong'), {}));
    expect(catalog.type('T')!.accept({}, new GrowthLimit(LIMIT))).toEqual({ payload: {} });
  });

  describe('make a payload at most as large as the limit', () => {
    const TOO_LARGE = 'payload: the defaults inside it add more bytes than body_limit allows';
    const schema = { properties: { é: { default: 'ö' } } };
    const filled = '{"text":"","é":"ö"}';

    it.each([
      ['a payload that then has this size', LIMIT, true],
      ['a payload that then is larger by a byte', LIMIT + 1, false],
    ])('%s', async (_, bytes, fits) => {
      const text = 'x'.repeat(bytes - Buffer.byteLength(filled));
      const expected = fits ? filled.replace('""', `"${text}"`) : TOO_LARGE;
      expect(await accepted(schema, JSON.stringify({ text }))).toBe(expected);
    });

    it('an empty payload, which needs no comma', async () => {
      expect(await accepted(schema, '{}', new GrowthLimit(11))).toBe('{"é":"ö"}');
      expect(await accepted(schema, '{}', new GrowthLimit(10))).toBe(TOO_LARGE);
    });

    it('several payloads together', async () => {
      const limit = new GrowthLimit(LIMIT);
      const large = { properties: { a: { default: 'x'.repeat(600) } } };
      expect(await accepted(large, '{}', limit)).toContain('xxx');
      expect(await accepted(large, '{}', limit)).toBe(TOO_LARGE);
    });

    it('a payload that needs no default may be larger', async () => {
      const payload = JSON.stringify({ é: 'x'.repeat(2 * LIMIT) });
      expect(await accepted(schema, payload)).toBe(payload);
    });
  });
});

describe('the option defaults', () => {
  const NO_EFFECT = 'has no effect, because the schema has no default that can be filled in; remove it or add one';
  const NEVER_END = 'the defaults inside it never end';

  it.each<[string, unknown, string[]]>([
    ['needs a schema', undefined, [`types.T.defaults: ${NO_EFFECT}`]],
    ['needs a default', { properties: { a: { type: 'string' } } }, [`types.T.defaults: ${NO_EFFECT}`]],
    ['needs a default outside of anyOf', { anyOf: [withDefault(1)] }, [`types.T.defaults: ${NO_EFFECT}`]],
    [
      'needs defaults that are valid',
      { properties: { a: { properties: { b: { type: 'string', default: 1 } } }, c: { enum: ['x'], default: 'y' } } },
      [
        'types.T.schema.properties.a.properties.b.default: must be string',
        'types.T.schema.properties.c.default: must be one of "x"',
      ],
    ],
    [
      'needs defaults that are valid, also behind $ref and under any name',
      { properties: { 'a/b~c%d': { $ref: '#/$defs/text', default: 1 } }, $defs: { text: { type: 'string' } } },
      ['types.T.schema.properties.a/b~c%d.default: must be string'],
    ],
    [
      'needs defaults that are valid with the defaults inside them',
      {
        properties: {
          a: { default: {}, required: ['b'], properties: { b: { default: 1 } } },
          c: { default: {}, required: ['d'], properties: { b: { default: 1 } } },
        },
      },
      ['types.T.schema.properties.c.default.d: is required'],
    ],
    [
      'needs defaults that end',
      { $ref: '#/$defs/node', $defs: { node: { properties: { next: { $ref: '#/$defs/node', default: {} } } } } },
      [`types.T.schema.$defs.node.properties.next.default: ${NEVER_END}`],
    ],
    [
      'needs defaults that end, also through lists and several schemas',
      {
        properties: { a: { default: [{}], items: { $ref: '#/$defs/b' } } },
        $defs: { b: { allOf: [{ properties: { c: { default: {}, $ref: '#' } } }] } },
      },
      [
        `types.T.schema.properties.a.default: ${NEVER_END}`,
        `types.T.schema.$defs.b.allOf[0].properties.c.default: ${NEVER_END}`,
      ],
    ],
    [
      'accepts a schema that contains itself where each default ends',
      { properties: { next: { $ref: '#', default: null }, n: { default: 1 } } },
      [],
    ],
    [
      'needs defaults of a size that can be filled in',
      {
        $defs: Object.fromEntries(
          Array.from({ length: 12 }, (_, level) => {
            const next = level < 11 ? { $ref: `#/$defs/l${level + 1}`, default: {} } : { default: 'x'.repeat(1_000) };
            return [`l${level}`, { properties: { a: next, b: next } }];
          }),
        ),
        properties: { top: { $ref: '#/$defs/l11', default: {} }, all: { $ref: '#/$defs/l0' } },
      },
      expect.arrayContaining([
        'types.T.schema.$defs.l0.properties.a.default: the defaults inside it add more bytes than body_limit allows',
      ]) as string[],
    ],
  ])('%s', async (_, schema, expected) => {
    expect(await problemTexts(configuration(schema))).toEqual(expected);
  });

  it('does not apply to WorkflowError', async () => {
    const text = JSON.stringify({ types: { WorkflowError: { defaults: true } } });
    expect(await problemTexts(text)).toEqual([expect.stringContaining('is reserved for the service')]);
  });

  it('refuses a payload for which the defaults of several schemas never end', async () => {
    // Each of the two ends on its own.
    const type = await typeWith({
      properties: { x: { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }] } },
      $defs: {
        a: { properties: { n: { default: {} } } },
        b: { properties: { n: { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }] } } },
      },
    });
    expect(problemOf(type, { x: {} })).toBe(`payload: ${NEVER_END}`);
    expect(problemOf(type, {})).toBeNull();
  });

  it('ends on a schema that refers to itself twice', async () => {
    const twice = { allOf: [{ $ref: '#/$defs/node' }, { $ref: '#/$defs/node' }] };
    const schema = { ...twice, $defs: { node: { properties: { next: twice, n: { default: 0 } } } } };
    const nested = (levels: number): string => (levels === 0 ? '{}' : `{"next":${nested(levels - 1)}}`);
    expect((await accepted(schema, nested(60))).match(/"n":0/g)).toHaveLength(61);
  });
});
