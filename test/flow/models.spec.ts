// The models find errors that are planted into a log.
import { type CachedExecution, wronglyCached } from './cache-model.js';
import { type CancelledExecution, wronglyCancelled } from './cancel-model.js';
import { type DebouncedExecution, wronglySuperseded } from './debounce-model.js';
import type { Logged } from './execution-log.js';
import { unfair } from './fair-model.js';
import { type LimitedWork, LimitModel, type Rule } from './limit-model.js';
import { startedInPauses } from './pause-model.js';
import { outOfOrder } from './priority-model.js';
import type { Sent } from './sent.js';
import { wronglyRefused } from './share-model.js';

const LONGEST_MS = 2_000;
const rule = (name: string, more: Partial<Rule>): [string, Rule] => [
  name,
  { name, concurrency: null, rate: null, hold: false, isKeyed: false, ...more },
];
const RULES = new Map([
  rule('plain', { concurrency: 1, isKeyed: true }),
  rule('held', { concurrency: 1, hold: true }),
  rule('paced', { rate: { perSecond: 10, burst: 2 } }),
  rule('breaker', { isKeyed: true }),
  rule('weighed', { rate: { perSecond: 10, burst: 4 }, units: 'payload.units' }),
]);
const WORKS = new Map<string, LimitedWork>([
  ...['p1', 'p2'].map((name): [string, LimitedWork] => [name, { limits: ['plain'], key: 1 }]),
  ['other', { limits: ['plain'], key: 2 }],
  ...['h1', 'h2'].map((name): [string, LimitedWork] => [name, { limits: ['held'], key: 1 }]),
  ...['r1', 'r2', 'r3'].map((name): [string, LimitedWork] => [name, { limits: ['paced'], key: 1 }]),
  ...['u1', 'u2'].map((name): [string, LimitedWork] => [name, { limits: ['weighed'], key: 1, units: 3 }]),
  ...['b1', 'b2'].map((name): [string, LimitedWork] => [name, { limits: ['breaker'], key: 1 }]),
  ...['s1', 's2'].map((name): [string, LimitedWork] => [name, { agent: 'stopped', limits: [], key: 1 }]),
]);

let seq = 0;

const entry = (at: number, more: Partial<Logged>): Logged => {
  seq += 1;
  const none = { limit_name: null, options: null, execution: null, correlation_id: null, state: null, retry_at: null };
  const others = {
    blocked_on: null,
    breaker_key: null,
    open_until: null,
    paused_agent: null,
    is_paused: null,
    lease_token: null,
  };
  return { seq, at, ...none, ...others, started_at: at, ...more };
};

const moves = (at: number, name: string, state: Logged['state'], retry_at: number | null = null): Logged =>
  entry(at, { execution: name, correlation_id: name, state, retry_at, lease_token: `${name} ${at}` });

const breaks = (at: number, open_until: number | null): Logged =>
  entry(at, { breaker_key: '["breaker",1]', open_until });

const pauses = (at: number, is_paused: number): Logged => entry(at, { paused_agent: 'stopped', is_paused });

function breachesOf(entries: readonly Logged[], until = 0): string[] {
  const model = new LimitModel(RULES, WORKS, { longestMs: LONGEST_MS, between: (from, to) => to - from });
  for (const each of entries) model.read(each);
  model.look(until);
  return model.breaches;
}

describe('the model of limits', () => {
  it('allows what limits allow', () => {
    const allowed = [
      ...[moves(0, 'p1', 'running'), moves(0, 'other', 'running'), moves(0, 'p2', 'pending')],
      ...[moves(5_000, 'p1', 'completed'), moves(5_001, 'p2', 'running'), moves(5_002, 'p2', 'failed')],
      ...[moves(5_003, 'h1', 'running'), moves(5_004, 'h1', 'pending', 6_000), moves(5_005, 'h1', 'running')],
      ...[
        breaks(5_005, 7_000),
        moves(5_010, 'b1', 'running'),
        moves(5_011, 'b1', 'pending'),
        moves(5_012, 'b2', 'pending'),
      ],
      ...[moves(6_000, 'r1', 'running'), moves(6_000, 'r2', 'running'), moves(6_100, 'r3', 'running')],
      ...[moves(6_200, 'u1', 'running'), moves(6_400, 'u2', 'running')],
      ...[
        moves(7_000, 'b1', 'running'),
        moves(9_500, 'b1', 'completed'),
        breaks(9_500, null),
        moves(9_501, 'b2', 'running'),
      ],
      ...[moves(9_502, 's1', 'running'), pauses(9_503, 1), moves(9_504, 's2', 'pending')],
      ...[pauses(20_000, 0), moves(20_001, 's2', 'running')],
    ];
    expect(breachesOf(allowed)).toEqual([]);
  });

  it.each<[string, Logged[], number, RegExp]>([
    [
      'a start above the limit of a key',
      [moves(0, 'p1', 'running'), moves(1, 'p2', 'running')],
      1,
      /^p2 starts .* 1 of 1 are used$/,
    ],
    [
      'a start while an execution that waits holds the limit',
      [moves(0, 'h1', 'running'), moves(1, 'h1', 'pending', 50), moves(2, 'h2', 'running')],
      2,
      /^h2 starts .* 1 of 1 are used$/,
    ],
    [
      'a start above a value that a client has set',
      [
        moves(0, 'r1', 'running'),
        entry(1, { limit_name: 'paced', options: '{"concurrency":1}' }),
        moves(2, 'r2', 'running'),
      ],
      2,
      /^r2 starts .* 1 of 1 are used$/,
    ],
    [
      'too many starts for a rate',
      [moves(0, 'r1', 'running'), moves(1, 'r2', 'running'), moves(98, 'r3', 'running')],
      98,
      /^3 units start with .* in 98 ms/,
    ],
    [
      'a start for which a rate had no room when it began to wait for the lock',
      [moves(1_000, 'r1', 'running'), moves(400, 'r2', 'running')],
      1_000,
      /^2 units start with .* in -600 ms/,
    ],
    [
      'too many units for a rate',
      [moves(0, 'u1', 'running'), moves(190, 'u2', 'running')],
      190,
      /^6 units start with .* in 190 ms/,
    ],
    [
      'an execution that waits although its limit has room',
      [moves(0, 'p1', 'running'), moves(0, 'p2', 'pending'), moves(100, 'p1', 'completed')],
      101 + LONGEST_MS,
      /^p2 might have started at 100/,
    ],
    [
      'an execution that waits although its agent was resumed',
      [pauses(0, 1), moves(0, 's1', 'pending'), pauses(5_000, 0)],
      5_001 + LONGEST_MS,
      /^s1 might have started at 5000/,
    ],
    [
      'a start while a breaker is open',
      [breaks(0, 5_000), moves(1_000, 'b1', 'running')],
      1_000,
      /^b1 starts at 1000 although .* is open from 0 to 5000$/,
    ],
    [
      'a second attempt while another one decides about a breaker',
      [breaks(0, 100), moves(100, 'b1', 'running'), moves(101, 'b2', 'running')],
      101,
      /^b2 starts at 101 while b1 decides/,
    ],
    [
      'an execution that waits although its breaker is half-open',
      [breaks(0, 100), moves(0, 'b1', 'pending'), moves(100, 'p1', 'running')],
      101 + LONGEST_MS,
      /^b1 might have started at 100/,
    ],
  ])('finds %s', (_, entries, until, found) => {
    expect(breachesOf(entries, until)).toEqual([expect.stringMatching(found)]);
  });
});

it('the model of turns finds a key that has to wait for too many starts of another one', () => {
  const works = new Map(['a1', 'a2', 'a3', 'b1'].map((name) => [name, { key: name[0]!, weight: 1 }]));
  const log = [
    ...[...works.keys()].map((name) => moves(0, name, 'pending')),
    ...['a1', 'a2', 'a3'].map((name) => moves(1, name, 'running')),
  ];
  expect(unfair(log, works)).toEqual([expect.stringMatching(/^3 of a start before one of b/)]);
  expect(unfair(log.slice(0, -1), works)).toEqual([]);
  const again = [...log.slice(0, -1), moves(2, 'a2', 'pending'), moves(3, 'a2', 'running')];
  expect(unfair(again, works)).toEqual([expect.stringMatching(/^3 of a start before one of b/)]);
  expect(unfair(again, works, { holds: true })).toEqual([]);
});

it('the model of turns lets what a limit has let go start before a key that waits since then', () => {
  const works = new Map(['a1', 'a2', 'a3', 'b1'].map((name) => [name, { key: name[0]!, weight: 1 }]));
  const all = ['a1', 'a2', 'a3'];
  const waits = (name: string): Logged => ({ ...moves(0, name, 'pending'), blocked_on: '["pool",null]' });
  const starts = (): Logged[] => all.map((name) => moves(3, name, 'running'));
  const released = [...all.map(waits), ...all.map((name) => moves(1, name, 'pending'))];
  expect(unfair([...released, moves(2, 'b1', 'pending'), ...starts()], works)).toEqual([]);
  const late = [waits('a1'), moves(1, 'b1', 'pending'), moves(2, 'a1', 'pending')];
  const others = ['a2', 'a3'].map((name) => moves(2, name, 'pending'));
  expect(unfair([...late, ...others, ...starts()], works)).toEqual([
    expect.stringMatching(/^3 of a start before one of b/),
  ]);
});

const sent = (from: number): Sent => ({ from, until: from + 10 });

it('the model of priorities finds a start before one that is next', () => {
  const works = new Map([
    ['low', { priority: 1, sent: sent(0) }],
    ['high', { priority: 2, sent: sent(20) }],
    ['older', { priority: 1, sent: sent(30) }],
    ['younger', { priority: 1, sent: sent(50) }],
  ]);
  const runs = (names: readonly string[]): Logged[] => [
    ...[...works].map(([name, { sent }]) => moves(sent.from, name, 'pending')),
    ...names.flatMap((name, n) => [moves(100 + n, name, 'running'), moves(100 + n, name, 'completed')]),
  ];
  expect(outOfOrder(runs(['low', 'high', 'older', 'younger']), works)).toEqual([]);
  expect(outOfOrder(runs(['low', 'older', 'high', 'younger']), works)).toEqual([
    expect.stringMatching(/^older starts before high/),
  ]);
  expect(outOfOrder(runs(['low', 'high', 'younger', 'older']), works)).toEqual([
    expect.stringMatching(/^younger starts before older/),
  ]);
});

it('the model of pauses finds a start in a pause', () => {
  const works = new Map([
    ['early', { agent: 'stopped', sent: sent(0) }],
    ['late', { agent: 'stopped', sent: sent(150) }],
    ['other', { agent: 'free', sent: sent(150) }],
  ]);
  const found = (at: number): string[] =>
    startedInPauses(
      [...works.keys()].map((name) => moves(at, name, 'running')),
      works,
      [{ agent: 'stopped', from: 100, until: 300 }],
    );
  expect(found(200)).toEqual([expect.stringMatching(/^late starts at 200 although stopped is paused until 300$/)]);
  expect(found(300)).toEqual([]);
});

describe('the model of cancel_on', () => {
  const works = new Map([['x', { key: 1, sent: sent(100) }]]);
  const recalls = new Map([
    ['before', { key: 1, sent: sent(50) }],
    ['other', { key: 2, sent: sent(150) }],
    ['first', { key: 1, sent: sent(200) }],
    ['second', { key: 1, sent: sent(300) }],
  ]);
  const breachesOfOne = (found: Partial<CancelledExecution>): string[] =>
    wronglyCancelled(
      [{ correlation: 'x', state: 'cancelled', cancelledBy: null, endedAt: 300, ...found }],
      works,
      recalls,
      (from, to) => to - from,
    );

  it('allows what cancel_on allows', () => {
    expect(breachesOfOne({ cancelledBy: 'first' })).toEqual([]);
    expect(breachesOfOne({ state: 'completed' })).toEqual([]);
  });

  it.each<[string, Partial<CancelledExecution>, RegExp]>([
    ['one that an earlier artifact has cancelled', { cancelledBy: 'before' }, /which came before it$/],
    ['one that another key has cancelled', { cancelledBy: 'other' }, /which has another key$/],
    ['one that an artifact has left', { cancelledBy: 'second' }, /and not by one before it$/],
    ['one that runs on', { state: 'completed', endedAt: 9_000 }, /although its key was called off$/],
  ])('finds %s', (_, found, breach) => {
    expect(breachesOfOne(found)).toEqual([expect.stringMatching(breach)]);
  });
});

describe('the model of debounce', () => {
  const works = new Map([
    ['x', { key: 1, sent: sent(100) }],
    ['before', { key: 1, sent: sent(50) }],
    ['other', { key: 2, sent: sent(150) }],
    ['after', { key: 1, sent: sent(200) }],
  ]);
  const breachesOfOne = (found: Partial<DebouncedExecution>): string[] =>
    wronglySuperseded([{ correlation: 'x', state: 'cancelled', supersededBy: null, queuedAt: 300, ...found }], works, {
      longestMs: 1_000,
      between: (from, to) => to - from,
    });

  it('allows what debounce allows', () => {
    expect(breachesOfOne({ supersededBy: 'after' })).toEqual([]);
    expect(breachesOfOne({ state: 'completed' })).toEqual([]);
  });

  it.each<[string, Partial<DebouncedExecution>, RegExp]>([
    ['one that an earlier artifact has superseded', { supersededBy: 'before' }, /and came before it$/],
    ['one that another key has superseded', { supersededBy: 'other' }, /which has another key$/],
    ['one that runs on', { state: 'completed', supersededBy: 'after' }, /although after took its place$/],
    ['one that waits for too long', { state: 'completed', queuedAt: 9_000 }, /and queued at 9000$/],
  ])('finds %s', (_, found, breach) => {
    expect(breachesOfOne(found)).toEqual([expect.stringMatching(breach)]);
  });
});

describe('the model of cache', () => {
  const keys = new Map([
    ['giver', 1],
    ['stranger', 2],
    ['taker', 1],
  ]);
  const execution = (correlation: string, more: Partial<CachedExecution> = {}): CachedExecution => ({
    ...{ id: `id-${correlation}`, correlation, state: 'completed', cachedFrom: null, answers: [correlation] },
    ...{ starts: 1, invocations: 1, ...more },
  });
  const taken = { cachedFrom: 'id-giver', answers: ['giver'], invocations: 0 };
  const breachesOfTaker = (more: Partial<CachedExecution>): string[] =>
    wronglyCached([execution('giver'), execution('stranger'), execution('taker', { ...taken, ...more })], keys);

  it('allows what cache allows', () => {
    expect(breachesOfTaker({})).toEqual([]);
    // Its first attempt was lost.
    expect(breachesOfTaker({ starts: 2, invocations: 1 })).toEqual([]);
  });

  it.each<[string, Partial<CachedExecution>, RegExp]>([
    ['another key', { cachedFrom: 'id-stranger', answers: ['stranger'] }, /has the answer of another key$/],
    ['another answer', { answers: ['stranger'] }, /has the answers of stranger, not of giver$/],
    ['no answer', { answers: [] }, /has the answers of , not of giver$/],
    ['an engine that was invoked', { invocations: 1 }, /was asked 1 times in 1 attempts$/],
    ['a giver that is not known', { cachedFrom: 'id-nobody' }, /which gave none$/],
    ['an answer without a giver', { cachedFrom: null, answers: ['taker'] }, /was not asked, and names no other/],
  ])('finds %s', (_, more, breach) => {
    expect(breachesOfTaker(more)).toEqual([expect.stringMatching(breach)]);
  });
});

it('the model of max_share finds a key that was refused although it had no share', () => {
  const sent = (at: number, key = 1) => ({ key, sent: { from: at, until: at } });
  const accepted = new Map([
    ['w1', sent(0)],
    ['w2', sent(0)],
    ['w3', sent(0, 2)],
  ]);
  const waiting = ['w1', 'w2', 'w3'].map((name) => moves(0, name, 'pending'));
  const breaches = (refused: ReturnType<typeof sent>, most: number, log = waiting): string[] =>
    wronglyRefused(log, accepted, new Map([['refused', refused]]), { most, between: (from, to) => to - from });
  expect(breaches(sent(9_000), 2)).toEqual([]);
  expect(breaches(sent(9_000), 3)).toEqual([expect.stringContaining('only 2 of 1 were waiting, not 3')]);
  expect(breaches(sent(9_000, 2), 2)).toEqual([expect.stringContaining('only 1 of 2 were waiting')]);
  // A process may have counted it before it started.
  const started = [...waiting, moves(8_000, 'w1', 'running')];
  expect(breaches(sent(9_000), 2, started)).toEqual([]);
  expect(breaches(sent(11_000), 2, started)).toEqual([expect.stringContaining('only 1 of 1')]);
  // Some are counted before they are queued.
  expect(breaches(sent(100), 2, [])).toEqual([]);
});
