import { Ajv2020 } from 'ajv/dist/2020.js';

import { openType } from '../../src/catalog/schemas/artifact-type.js';
import { embeddedSchema } from '../../src/catalog/schemas/embedded-schema.js';
import type { JsonObject } from '../../src/common/json.js';

const NODE = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, below: { type: 'array', items: { $ref: '#/$defs/node' } } },
};

/** Schemas, each with a payload that fits and one that does not. Ajv checks them alone and inside another schema. */
test.each<[string, JsonObject, JsonObject, JsonObject]>([
  [
    'references',
    { properties: { tree: { $ref: '#/$defs/node' } }, $defs: { node: NODE } },
    { tree: { name: 'a', below: [{ name: 'b' }] } },
    { tree: { name: 'a', below: [{}] } },
  ],
  [
    'a reference to itself',
    { properties: { next: { $ref: '#' }, n: { type: 'integer' } } },
    { next: { next: { n: 1 } } },
    { next: { next: { n: 'one' } } },
  ],
  [
    'a name that a pointer escapes',
    { properties: { a: { $ref: '#/$defs/x~1y' } }, $defs: { 'x/y': { const: 1 } } },
    { a: 1 },
    { a: 2 },
  ],
  [
    'an anchor',
    { properties: { a: { $ref: '#one' } }, $defs: { one: { $anchor: 'one', const: 1 } } },
    { a: 1 },
    { a: 2 },
  ],
  [
    'an id',
    { $id: 'https://shop.test/a', properties: { a: { $ref: '#/$defs/one' } }, $defs: { one: { const: 1 } } },
    { a: 1 },
    { a: 2 },
  ],
  [
    'a part with an id',
    {
      properties: {
        a: { $id: 'https://shop.test/b', properties: { x: { $ref: '#/$defs/one' } }, $defs: { one: { const: 1 } } },
      },
    },
    { a: { x: 1 } },
    { a: { x: 2 } },
  ],
  [
    'data that looks like a reference',
    { properties: { a: { enum: [{ $ref: '#/x' }] } } },
    { a: { $ref: '#/x' } },
    { a: { $ref: '#/properties/other/x' } },
  ],
  [
    'properties named as keywords are',
    { properties: { enum: { $ref: '#/$defs/one' }, $ref: { type: 'string' } }, $defs: { one: { const: 1 } } },
    { enum: 1, $ref: 'x' },
    { enum: 2, $ref: 'x' },
  ],
  [
    'references in a list',
    { anyOf: [{ $ref: '#/$defs/one' }, { required: ['b'] }], $defs: { one: { required: ['a'] } } },
    { a: 1 },
    { c: 1 },
  ],
])('%s means the same inside another schema', (_case, schema, fits, fails) => {
  const type = { ...openType('Any'), schema };
  const inner = embeddedSchema(type, ['properties', 'x/y', 'anyOf', 0]);
  const outer = { type: 'object', properties: { 'x/y': { anyOf: [inner] } } };
  const judge = (judged: object, value: unknown): boolean => new Ajv2020({ strict: false }).validate(judged, value);
  expect([judge(schema, fits), judge(schema, fails)]).toEqual([true, false]);
  expect([judge(outer, { 'x/y': fits }), judge(outer, { 'x/y': fails })]).toEqual([true, false]);
});
