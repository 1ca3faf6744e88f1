import { checkOutputs, MAX_OUTPUTS, OutputError } from '../../src/blackboard/execution/outputs.js';
import { Catalog } from '../../src/catalog/catalog.js';
import type { ArtifactType } from '../../src/catalog/definitions.js';
import { GrowthLimit } from '../../src/catalog/growth-limit.js';
import type { JsonObject } from '../../src/common/json.js';
import { agent, anyObject } from './core.js';

const scored: ArtifactType = {
  ...anyObject('Scored'),
  accept: (payload) =>
    typeof (payload as { score?: unknown }).score === 'number'
      ? { payload: payload as JsonObject }
      : { problem: 'payload.score: must be number' },
};
const LIMITS = { maxTtlMs: 30 * 86_400_000, bodyLimitBytes: 10_000, growth: new GrowthLimit(10_000) };
const catalog = new Catalog(['Note', 'Task'].map(anyObject).concat(scored), []);

/** Returns what an agent that publishes these types would store, as `<type> <JSON>`. */
const stored = (answer: unknown, publishes: string[]): string[] =>
  checkOutputs(answer, agent('writer', [], publishes), catalog, LIMITS).map(
    ({ output, payloadText }) => `${output.type} ${payloadText}`,
  );

const thrownBy = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
};

function expectRefused(answer: unknown, publishes: string[], message: RegExp): void {
  const error = thrownBy(() => stored(answer, publishes));
  expect(error).toBeInstanceOf(OutputError);
  expect((error as Error).message).toMatch(message);
}

describe('the answer of an agent that publishes one type', () => {
  it.each([
    ['an object is one artifact', { a: 1 }, ['Note {"a":1}']],
    ['a list is one artifact each, in its order', [{ a: 1 }, { a: 2 }], ['Note {"a":1}', 'Note {"a":2}']],
    ['an empty object is an artifact', {}, ['Note {}']],
    ['an empty list publishes nothing', [], []],
    ['null publishes nothing', null, []],
    ['undefined publishes nothing', undefined, []],
    ['a key of the type name is part of the payload', { Note: { a: 1 } }, ['Note {"Note":{"a":1}}']],
  ])('%s', (_, answer, expected) => expect(stored(answer, ['Note'])).toEqual(expected));

  it.each([
    ['text', 'hello'],
    ['a number', 7],
    ['false', false],
    ['a function', () => ({})],
    ['a date', new Date(0)],
    ['a list in a list', [[{}]]],
    ['null in a list', [{}, null]],
  ])('%s is refused', (_, answer) => expectRefused(answer, ['Note'], /^the payload of Note must be an object$/));
});

describe('the answer of an agent that publishes several types', () => {
  it.each([
    [
      'a payload or a list for each type',
      { Task: { b: 1 }, Note: [{ a: 1 }, { a: 2 }] },
      ['Note {"a":1}', 'Note {"a":2}', 'Task {"b":1}'],
    ],
    ['a type that is left out', { Task: { b: 1 } }, ['Task {"b":1}']],
    ['null and undefined for a type', { Note: null, Task: undefined }, []],
    ['an empty object', {}, []],
    ['null', null, []],
  ])('may contain %s', (_, answer, expected) => expect(stored(answer, ['Note', 'Task'])).toEqual(expected));

  it('must name only types that the agent publishes', () =>
    expectRefused(
      { Note: {}, Scored: { score: 1 } },
      ['Note', 'Task'],
      /^the answer names Scored, but the agent publishes Note, Task$/,
    ));

  it.each([
    ['a list', [{}]],
    ['text', 'Note'],
  ])('must be an object and not %s', (_, answer) =>
    expectRefused(answer, ['Note', 'Task'], /must be an object keyed by type name \(Note, Task\)/),
  );
});

describe('any answer', () => {
  it('of an agent that publishes no type must be null', () => {
    expect(stored(null, [])).toEqual([]);
    expectRefused({}, [], /publishes no type, so it must answer null/);
  });

  it('may contain 1,000 artifacts and no more', () => {
    const many = Array.from({ length: MAX_OUTPUTS }, (_, index) => ({ index }));
    expect(stored(many, ['Note'])).toHaveLength(1_000);
    expectRefused([...many, {}], ['Note'], /has 1001 artifacts, and an execution publishes at most 1000/);
    expectRefused({ Note: many, Task: {} }, ['Note', 'Task'], /has 1001 artifacts/);
  });

  it('may contain payloads of as many bytes as a publish may have, and no more', () => {
    const text = (length: number): object => ({ text: 'é'.repeat(length) });
    const most = (LIMITS.bodyLimitBytes - '{"text":""}'.length - 1) / 2;
    expect(stored([text(most), text(most)], ['Note'])).toHaveLength(2);
    expectRefused(
      [text(most), text(most + 1)],
      ['Note'],
      /^the payload of Note has 10001 bytes, and body_limit allows 10000$/,
    );
  });

  it('must fit the schema of its type in every artifact', () => {
    expect(stored([{ score: 1 }], ['Scored'])).toEqual(['Scored {"score":1}']);
    expectRefused(
      [{ score: 1 }, { score: 'high' }],
      ['Scored'],
      /^Scored refuses its payload: payload\.score: must be number$/,
    );
  });

  it('is checked as it will be stored', () => {
    // NaN becomes null in JSON, so the engine's number is no longer a number.
    expectRefused({ score: NaN }, ['Scored'], /must be number/);
    expectRefused({ toJSON: () => 'text' }, ['Note'], /must be an object/);
    expect(stored({ toJSON: () => ({ score: 2 }) }, ['Scored'])).toEqual(['Scored {"score":2}']);
  });

  it('has dates as text, and omits values that JSON cannot express', () => {
    const [output] = checkOutputs(
      { at: new Date(0), nothing: undefined, work: () => 1, list: [undefined] },
      agent('writer', [], ['Note']),
      catalog,
      LIMITS,
    );
    expect(output!.payload).toEqual({ at: '1970-01-01T00:00:00.000Z', list: [null] });
    expect(JSON.parse(output!.payloadText)).toEqual(output!.payload);
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const broken = (): never => {
    throw new Error('broken value');
  };
  const unusable: [string, object, RegExp][] = [
    ['a BigInt', { count: 1n }, /^the payload of Note is not JSON: .*BigInt/],
    ['a cycle', cycle, /^the payload of Note is not JSON: .*circular/],
    ['a toJSON that throws', { toJSON: broken }, /^the payload of Note is not JSON: broken value/],
    [
      'a getter that throws',
      Object.defineProperty({}, 'bad', { enumerable: true, get: broken }),
      /^the payload of Note is not JSON: broken value/,
    ],
  ];

  it.each(unusable)('with %s is refused', (_, answer, message) => {
    expectRefused(answer, ['Note'], message);
    expectRefused([{}, answer], ['Note'], message);
    expectRefused({ Task: {}, Note: answer }, ['Note', 'Task'], message);
  });
});
