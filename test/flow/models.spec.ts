// The models find errors that are planted into a log.
import type { Logged } from './execution-log.js';
import { unfair } from './fair-model.js';
import { type LimitedWork, LimitModel, type Rule } from './limit-model.js';

const LONGEST_MS = 2_000;
const rule = (name: string, more: Partial<Rule>): [string, Rule] => [
  name,
  { name, concurrency: null, rate: null, hold: false, isKeyed: false, ...more },
];
const RULES = new Map([
  rule('plain', { concurrency: 1, isKeyed: true }),
  rule('held', { concurrency: 1, hold: true }),
  rule('paced', { rate: { perSecond: 10, burst: 2 } }),
]);
const WORKS = new Map<string, LimitedWork>([
  ...['p1', 'p2'].map((name): [string, LimitedWork] => [name, { limits: ['plain'], key: 1 }]),
  ['other', { limits: ['plain'], key: 2 }],
  ...['h1', 'h2'].map((name): [string, LimitedWork] => [name, { limits: ['held'], key: 1 }]),
  ...['r1', 'r2', 'r3'].map((name): [string, LimitedWork] => [name, { limits: ['paced'], key: 1 }]),
]);

let seq = 0;

const entry = (at: number, more: Partial<Logged>): Logged => {
  seq += 1;
  const none = { limit_name: null, options: null, execution: null, correlation_id: null, state: null, retry_at: null };
  return { seq, at, ...none, lease_token: null, started_at: at, ...more };
};

const moves = (at: number, name: string, state: Logged['state'], retry_at: number | null = null): Logged =>
  entry(at, { execution: name, correlation_id: name, state, retry_at, lease_token: `${name} ${at}` });

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
      ...[moves(6_000, 'r1', 'running'), moves(6_000, 'r2', 'running'), moves(6_100, 'r3', 'running')],
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
      /^3 start with .* in 98 ms/,
    ],
    [
      'an execution that waits although its limit has room',
      [moves(0, 'p1', 'running'), moves(0, 'p2', 'pending'), moves(100, 'p1', 'completed')],
      101 + LONGEST_MS,
      /^p2 might have started at 100/,
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
});
