// The scorers that compare values, as functions.
import type { JsonValue } from '../../src/common/json.js';
import { valueAt } from '../../src/features/experiments/json-pointer.js';
import { contains, cost, equals, scoreOf } from '../../src/features/experiments/score.js';

describe('a JSON Pointer', () => {
  const value: JsonValue = { a: [{ 'b/c': 1, 'd~e': 2 }], '': 3, constructor: 4 };

  it.each([
    ['', value],
    ['/a/0/b~1c', 1],
    ['/a/0/d~0e', 2],
    ['/', 3],
    ['/constructor', 4],
    ['/a/00', undefined],
    ['/a/1', undefined],
    ['/a/length', undefined],
    ['/toString', undefined],
    ['/a/0/b~1c/x', undefined],
  ])('%s leads to its value', (pointer, expected) => {
    expect(valueAt(value, pointer)).toEqual(expected);
  });
});

describe('equals', () => {
  it.each<[JsonValue | null, string, JsonValue, object]>([
    [{ b: 1, a: [2] }, '', { a: [2], b: 1 }, { score: 1 }],
    [{ a: [2, 1] }, '/a', [1, 2], { score: 0 }],
    [{ n: 7 }, '/n', '7', { score: 1 }],
    [{ n: true }, '/n', 'true', { score: 1 }],
    [{ n: '7' }, '/n', 7, { score: 0 }],
    [{ n: null }, '/n', null, { score: 1 }],
    [{}, '/n', null, { score: 0 }],
    [null, '', 'a', { score: 0 }],
  ])('%j at %j and %j give %j', (output, path, expected, score) => {
    expect(equals(output, path, expected)).toEqual(score);
  });
});

describe('contains', () => {
  it.each<[JsonValue | null, string, JsonValue, object]>([
    [{ t: 'a card' }, '/t', 'card', { score: 1 }],
    [{ t: 'a card' }, '/t', 'Card', { score: 0 }],
    [{ t: ['a', { b: 1 }] }, '/t', { b: 1 }, { score: 1 }],
    [{ t: [1, 2] }, '/t', '2', { score: 1 }],
    [{ t: [1, 2] }, '/t', 3, { score: 0 }],
    [null, '/t', 'card', { score: 0 }],
    [{}, '/t', 'card', { score: 0 }],
  ])('%j at %j and %j give %j', (output, path, expected, score) => {
    expect(contains(output, path, expected)).toEqual(score);
  });

  it('says what cannot contain anything', () => {
    expect(contains({ t: 7 }, '/t', 'a')).toEqual({
      score: null,
      error: 'the output has neither a text nor a list at "/t"; contains needs one of them',
    });
    expect(contains({ t: 'a' }, '/t', 1)).toMatchObject({ score: null });
  });
});

it('numbers and booleans are scores, and other values are not', () => {
  expect([scoreOf(true), scoreOf(false), scoreOf(-1.5)]).toEqual([{ score: 1 }, { score: 0 }, { score: -1.5 }]);
  expect(scoreOf('high')).toEqual({
    score: null,
    error: 'the result must be a number or a boolean (got "high")',
  });
  expect(scoreOf(undefined)).toMatchObject({ error: 'the result must be a number or a boolean (got nothing)' });
});

it('cost without a price is not known, unless no model was used', () => {
  expect(cost({ input_tokens: 1, output_tokens: 1, cost: 0.5 })).toEqual({ score: 0.5 });
  expect(cost({ input_tokens: 1, output_tokens: 1, cost: 0.1 + 0.2 })).toEqual({ score: 0.3 });
  expect(cost({ input_tokens: 0, output_tokens: 0, cost: null })).toEqual({ score: 0 });
  expect(cost({ input_tokens: 1, output_tokens: 0, cost: null })).toMatchObject({ score: null });
});
