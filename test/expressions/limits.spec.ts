import { ExpressionEvaluator } from '../../src/cel/evaluator.js';
import { compiled, type EvaluationResult } from '../../src/cel/language/expression-program.js';
import { rememberText } from '../../src/cel/language/json-text.js';
import { watched } from '../support/main-thread.js';

const MEGABYTE = 2 ** 20;
// A garbage collection or a page fault may come at any moment; the evaluation's own work recurs every time.
const TRIES = 5;
const MOST_HELD_MS = 10;
const LONGEST_MS = 1_000;
// The delay until the timer fires, and until the end of the process is noticed, plus what other processes took of the
// machine.
const LATE_MS = 500;

const MEGABYTE_OF_JSON = JSON.stringify(new Array(MEGABYTE / 2).fill(1));

const TOO_LONG = { ok: false, error: `takes longer than ${LONGEST_MS} ms` };

const evaluator = new ExpressionEvaluator();

// The start of the processes is not part of an evaluation.
beforeAll(() => Promise.all([1, 2].map(() => evaluate('payload.all(x, payload.all(y, x == y))', [1]))));
afterAll(() => evaluator.close());

const variablesOf = (payload: unknown) => ({ payload, artifact: { id: 'A-1' }, inputs: [{ payload }] });

const evaluate = (source: string, payload: unknown): Promise<EvaluationResult> =>
  evaluator.evaluate(source, variablesOf(payload));

const isShortWork = (source: string, payload: unknown): boolean =>
  compiled(source).runShort(variablesOf(payload)) !== null;

/**
 * Returns true if the main thread was blocked for at most 10 ms, or on a slow machine at most as long as it takes to
 * read a megabyte of JSON once, which the request with the payload has done before.
 */
function isShort(heldMs: number): boolean {
  if (heldMs <= MOST_HELD_MS) return true;
  const began = performance.now();
  JSON.parse(MEGABYTE_OF_JSON);
  return heldMs <= performance.now() - began;
}

/**
 * Evaluates until the main thread was not blocked for long and the result came in time; fails if that never happens. An
 * evaluation that timed out, perhaps because other processes had the CPU, is repeated, if it `hasTime` otherwise.
 */
async function evaluateWithinLimits(source: string, payload: unknown, hasTime = false): Promise<EvaluationResult> {
  if (typeof payload === 'object' && payload !== null) rememberText(payload, JSON.stringify(payload));
  const tries: string[] = [];
  for (let count = 1; count <= TRIES; count++) {
    const { result, heldMs, tookMs, deniedMs } = await watched(() => evaluate(source, payload));
    const isForOthers = hasTime && 'error' in result && result.error === TOO_LONG.error && count < TRIES;
    if (!isForOthers && isShort(heldMs) && tookMs <= LONGEST_MS + LATE_MS + deniedMs) return result;
    tries.push(
      `held ${heldMs.toFixed(1)} ms, took ${tookMs.toFixed(0)} ms, of which it was denied ${deniedMs.toFixed(0)} ms`,
    );
  }
  throw new Error(`past the limits on every try: ${tries.join('; ')}`);
}

/**
 * Evaluates with payloads of sizes from 1 to 1,000, up to the first that the main thread leaves to a process. Those beyond
 * it cost the main thread only what `every kind of payload of a megabyte` measures.
 */
async function evaluateUpToProcesses(source: string, payloadOf: (size: number) => unknown): Promise<void> {
  for (let size = 1; size <= 1_000; size = Math.ceil(size * 1.25)) {
    const payload = payloadOf(size);
    await evaluateWithinLimits(source, payload);
    if (!isShortWork(source, payload)) return;
  }
}

const text = (length: number): string => 'ab'.repeat(Math.floor(length / 2));
const listOf = (length: number, value: unknown = 1): unknown[] => new Array<unknown>(Math.floor(length)).fill(value);
const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 ? [value] : { a: value };
  return value;
};
const wide = (keys: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: keys }, (_, index) => [`!${index.toString(36)}`, index]));

describe('a hostile payload', () => {
  const rows: [what: string, source: string, payload: unknown, expected: unknown][] = [
    [
      'nested macros over a long list',
      'payload.l.all(a, payload.l.all(b, payload.l.all(c, payload.l.all(d, a + b + c + d > 0.0))))',
      { l: listOf(500) },
      TOO_LONG,
    ],
    [
      'nested maps that grow',
      'payload.l.map(a, payload.l.map(b, payload.l.map(c, payload.l)))',
      { l: listOf(400) },
      { ok: false },
    ],
    ['a macro over a megabyte of elements', 'payload.l.exists(x, x == 2)', { l: listOf(MEGABYTE / 2) }, {}],
    [
      'a filter that compares all with all',
      'payload.l.filter(x, payload.l.exists(y, x == y))',
      { l: listOf(5_000).map((_, index) => index) },
      {},
    ],
    [
      'a macro over long texts',
      'payload.l.exists(x, x.lowerAscii().upperAscii().contains("refund"))',
      { l: listOf(1_000, text(1_000)) },
      { ok: true, value: false },
    ],
    [
      'a macro that looks through all of a list for each element',
      'payload.l.all(x, x in payload.l)',
      { l: listOf(5_000).map((_, index) => index) },
      {},
    ],
    [
      'a macro that copies a long text for each element',
      'size(payload.l.map(x, payload.s.upperAscii() + x))',
      { l: listOf(1_000, 'x'), s: text(MEGABYTE / 2) },
      { ok: false },
    ],
    [
      'a macro whose body errs for each element',
      'payload.l.exists(x, x.nope < 1.0 || x.nope < 2.0)',
      { l: listOf(MEGABYTE / 4) },
      { ok: false },
    ],
    [
      'a macro over the keys of a wide object',
      'payload.o.exists(key, payload.o[key] == -1.0)',
      { o: wide(50_000) },
      { ok: true, value: false },
    ],
    [
      'macros one after the other',
      'size(payload.l.map(x, [x, x]).filter(x, x[0] == x[1]).map(x, x[0]))',
      { l: listOf(MEGABYTE / 8) },
      {},
    ],
    ['replace on a long text', 'size(payload.s.replace("a", "xyz"))', { s: text(MEGABYTE) }, { ok: true }],
    ['replace that makes a huge text', 'payload.s.replace("a", payload.s)', { s: text(MEGABYTE / 4) }, { ok: false }],
    ['a regular expression on a long text', 'payload.s.matches("(a*)*(a|b|c)*(ab)*$")', { s: text(MEGABYTE) }, {}],
    [
      'a regular expression from the payload',
      'payload.s.matches(payload.p)',
      { s: text(MEGABYTE / 4), p: '(a?){100}(b?){100}$'.repeat(20) },
      {},
    ],
    [
      'a search for a long text',
      'payload.s.contains(payload.t)',
      { s: listOf(MEGABYTE / 2, 'a').join(''), t: `${'a'.repeat(100_000)}b${'a'.repeat(100_000)}` },
      {},
    ],
    [
      'a backward search for a long text',
      'payload.s.lastIndexOf(payload.t)',
      { s: 'a'.repeat(MEGABYTE / 2), t: `${'a'.repeat(250_000)}b` },
      {},
    ],
    [
      'joined long texts',
      'size(payload.l.map(x, payload.s).join(""))',
      { s: text(MEGABYTE / 2), l: listOf(500) },
      { ok: false },
    ],
    [
      'huge joined texts made flat',
      'payload.l.map(x, payload.s).join("").lowerAscii()',
      { s: text(MEGABYTE), l: listOf(400) },
      { ok: false },
    ],
    [
      'many copies in bytes',
      'payload.l.map(x, bytes(payload.s))',
      { s: text(MEGABYTE), l: listOf(4_000) },
      { ok: false, error: 'more than 33554432 bytes in values of type bytes in `bytes(payload.s)`' },
    ],
    ['many splits', 'payload.l.map(x, payload.s.split(""))', { s: text(MEGABYTE), l: listOf(4_000) }, { ok: false }],
    [
      'formats that grow',
      'payload.l.map(x, "%s%s%s".format([payload.s, payload.s, payload.s]).upperAscii())',
      { s: text(MEGABYTE / 2), l: listOf(4_000) },
      { ok: false },
    ],
    ['a format of a huge precision', '"%.9999999f".format([payload.n])', { n: 1.5 }, { ok: false }],
    ['a long number', 'int(payload.s)', { s: '9'.repeat(MEGABYTE) }, { ok: false }],
    [
      'a time zone that is a long text',
      'timestamp("2026-01-01T00:00:00Z").getHours(payload.s)',
      { s: text(MEGABYTE) },
      { ok: false },
    ],
    ['concatenations of long texts', `size(${listOf(60, 'payload.s').join(' + ')}) > 3`, { s: text(MEGABYTE) }, {}],
    ['a result of a megabyte', 'payload', { s: text(MEGABYTE - 100) }, { ok: true }],
    [
      'a result that is too long',
      'payload.s + payload.s',
      { s: text(MEGABYTE) },
      { ok: false, error: 'the result is longer than 1048576 characters of JSON' },
    ],
    [
      'a result of many values',
      'payload',
      { l: listOf(MEGABYTE / 2) },
      { ok: false, error: 'the result has more than 20000 values' },
    ],
    ['a result of as many keys as may be', 'payload', wide(9_990), { ok: true }],
    ['inputs beyond the limit', 'size(payload)', listOf(10).map(() => ({ s: text(MEGABYTE) })), { ok: false }],
    [
      'inputs just below the limit, of two bytes a character',
      'size(payload)',
      listOf(15).map(() => 'ы'.repeat(MEGABYTE / 2)),
      { ok: true, value: 15 },
    ],
  ];
  it.each(rows)('%s', async (_what, source, payload, expected) => {
    const { ok, error } = expected as { ok?: boolean; error?: string };
    const hasTime = ok === true || (error !== undefined && error !== TOO_LONG.error);
    expect(shortened(await evaluateWithinLimits(source, payload, hasTime))).toMatchObject(expected as object);
  });
});

describe('every kind of payload of a megabyte', () => {
  const payloads: [what: string, payload: unknown][] = [
    ['a long text', { text: text(MEGABYTE), list: [1], n: 1 }],
    ['a text of emoji', { text: '😀'.repeat(MEGABYTE / 4), list: ['😀'], n: 1 }],
    ['a long list', { text: 'x', list: listOf(MEGABYTE / 2), n: 1 }],
    ['a list of empty lists', { text: 'x', list: listOf(MEGABYTE / 3).map(() => []), n: 1 }],
    ['many objects', { text: 'x', list: listOf(MEGABYTE / 10).map((_, n) => ({ n })), n: 1 }],
    ['very many keys', { ...wide(100_000), text: 'x', list: [1], n: 1 }],
    ['deep nesting', { text: 'x', list: listOf(4_000).map(() => nested(60)), n: 1 }],
  ];
  const sources = [
    'size(payload.text) > 3',
    'payload.text.lowerAscii().contains("refund")',
    'payload == inputs[0].payload',
    'payload.list == inputs[0].payload.list && payload.text < inputs[0].payload.text',
    'payload.n in payload.list',
    '"n" in payload && payload.text.startsWith("x")',
    '{"text": payload.text + payload.text, "list": [payload.list, payload.list]}',
    'payload.list.map(x, [x, payload.n])',
    'payload.map(key, payload[key])',
  ];
  it.each(payloads)('%s', async (_what, payload) => {
    for (const source of sources) await evaluateWithinLimits(source, payload);
  });
});

describe('payloads as large as the main thread accepts', () => {
  const sources = [
    'size(payload.text) > 3',
    'payload.text.lowerAscii().upperAscii().trim().contains("refund")',
    'size(payload.text + payload.text + payload.text) > 3',
    'payload.list == payload.list && size(payload.list) > 3',
    '{"a": payload, "b": [payload.text, payload.list]}',
    'payload.text in payload.list',
    'int(payload.digits) > 3',
    listOf(100, 'payload.text == "x"').join(' || '),
  ];
  it.each(sources.map((source) => [source.slice(0, 60), source]))('%s', async (_start, source) => {
    for (let size = 64; size <= 32_768; size *= 2) {
      await evaluateWithinLimits(source, { text: text(size), list: listOf(size / 8, 'ab'), digits: '9'.repeat(size) });
    }
  });
});

describe('macros over lists as long as the main thread accepts', () => {
  const elements: [what: string, element: unknown][] = [
    ['numbers', 1],
    ['short texts', 'ab'],
    ['long texts', text(500)],
    ['objects', { a: 1, t: 'high' }],
    ['lists', [[1], []]],
  ];
  const bodies = [
    'exists(x, x.t == "low")',
    `exists(x, ${listOf(20, 'x < null').join(' && ')})`,
    'exists(x, x == payload.list || x == payload.other)',
    'exists(x, x in payload.list)',
    'exists(x, x.lowerAscii().upperAscii().trim().contains("refund"))',
    'exists(x, timestamp(x) < timestamp("2026-01-01T00:00:00Z") || duration(x) < duration("1s") || int(x) < 1)',
    'exists_one(x, [x, [x]] == [x, [x, payload.other]])',
    'all(x, payload.list[0] == x && payload.list == payload.other)',
    'map(x, x)',
    'map(x, {"x": [x, x], "other": payload.other})',
    'map(x, payload.other)',
    'filter(x, x == x).map(x, x).filter(x, x == x)',
  ];
  it.each(elements.flatMap(([what, element]) => bodies.map((body) => [what, body, element] as const)))(
    '%s: %s',
    (_what, body, element) =>
      evaluateUpToProcesses(`payload.list.${body}`, (length) => ({
        list: listOf(length, element),
        other: listOf(length, element),
      })),
  );

  it('macros that compare all elements of one list in a list with each other', () =>
    evaluateUpToProcesses('payload.exists(x, x.exists(y, x.exists(z, y < z)))', (length) => [listOf(length)]));
});

it('accepts payloads that nest as deep as the API allows, and refuses those that overflow the stack', async () => {
  const takes = { ok: true, value: true };
  expect(await evaluateWithinLimits('payload == inputs[0].payload', nested(64), true)).toEqual(takes);
  expect(await evaluateWithinLimits('[payload].exists(x, x == inputs[0].payload)', nested(64), true)).toEqual(takes);
  const { result } = await watched(() => evaluate('payload == inputs[0].payload', nested(100_000)));
  expect(result).toMatchObject({ ok: false });
});

// Jest would print the whole megabyte.
function shortened(result: EvaluationResult): object {
  return JSON.stringify(result).length > 1_000 ? { ok: result.ok } : result;
}
