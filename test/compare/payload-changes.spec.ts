// The difference of two payloads: a pure function.
import { isDeepStrictEqual } from 'node:util';

import fc from 'fast-check';

import type { JsonValue } from '../../src/common/json.js';
import { changesOf } from '../../src/features/compare/payload-changes.js';
import { printedSeed } from '../support/random.js';

const changes = (left: unknown, right: unknown) => changesOf(JSON.stringify(left), JSON.stringify(right));
const listed = (left: unknown, right: unknown) => changes(left, right).listed;

/** JSON that a payload can be; a negative zero is not among it, because it is stored as 0. */
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);

describe('changes of a payload', () => {
  test('are added, removed and replaced values with their JSON Pointers', () => {
    expect(listed({ a: 1, b: { 'x/y~z': [1, 2] }, c: null }, { a: 2, b: { 'x/y~z': [1, 3, 4] }, d: true })).toEqual([
      { op: 'replace', path: '/a', left: '1', right: '2' },
      { op: 'replace', path: '/b/x~1y~0z/1', left: '2', right: '3' },
      { op: 'add', path: '/b/x~1y~0z/2', right: '4' },
      { op: 'remove', path: '/c', left: 'null' },
      { op: 'add', path: '/d', right: 'true' },
    ]);
    expect(listed({ list: [] }, { list: {} })).toEqual([{ op: 'replace', path: '/list', left: '[]', right: '{}' }]);
    expect(listed('text', 3)).toEqual([{ op: 'replace', path: '', left: '"text"', right: '3' }]);
  });

  test('do not depend on the order of keys, and are none for equal JSON', () => {
    expect(changesOf('{"a":1,"b":[{"c":2,"d":3}]}', '{"b":[{"d":3,"c":2}],"a":1.0}')).toEqual({
      listed: [],
      leftOff: 0,
    });
    fc.assert(
      fc.property(json, (value) => expect(listed(value, JSON.parse(JSON.stringify(value, null, 1)))).toEqual([])),
      { seed: printedSeed() },
    );
  });

  test('are found for every two different payloads', () => {
    fc.assert(
      fc.property(json, json, (left, right) => {
        const { length } = listed(left, right);
        expect(length === 0).toBe(isDeepStrictEqual(left, right));
      }),
      { seed: printedSeed() },
    );
  });

  test('are exact for names that every JavaScript object has', () => {
    expect(changesOf('{"toString":1,"__proto__":{"a":1}}', '{}').listed).toEqual([
      { op: 'remove', path: '/toString', left: '1' },
      { op: 'remove', path: '/__proto__', left: '{"a":1}' },
    ]);
    expect(changesOf('{}', '{"constructor":[1],"__proto__":null}').listed).toEqual([
      { op: 'add', path: '/constructor', right: '[1]' },
      { op: 'add', path: '/__proto__', right: 'null' },
    ]);
  });

  test('are shortened and counted where they are long, and large payloads are compared as a whole', () => {
    const [long] = listed({ text: 'a'.repeat(2_000) }, { text: 1 });
    expect(long).toEqual({ op: 'replace', path: '/text', left: `"${'a'.repeat(999)}`, right: '1', shortened: true });

    const many = (value: number) => Array.from({ length: 3_000 }, () => value);
    const { listed: some, leftOff } = changes(many(1), many(2));
    expect(some.length + leftOff).toBe(3_000);
    expect(JSON.stringify(some).length).toBeLessThan(20_000);
    expect(some.length).toBeGreaterThan(100);

    const large = (end: string) => ({ text: 'b'.repeat(300_000) + end });
    expect(listed(large('x'), large('y'))).toMatchObject([{ op: 'replace', path: '', shortened: true }]);
    expect(listed(large('x'), large('x'))).toEqual([]);
  });
});
