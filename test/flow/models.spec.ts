// The models find errors that are planted into a log.
import { type CachedExecution, wronglyCached } from './cache-model.js';
import { type CancelledExecution, wronglyCancelled } from './cancel-model.js';
import { type DebouncedExecution, wronglySuperseded } from './debounce-model.js';
import type { Logged } from './execution-log.js';
import { unfair } from './fair-model.js';
import { FileHistory } from './file-history.js';
import { keysIn, type LimitedWork, type LimitFile, LimitModel, type Rule } from './limit-model.js';
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
const FILE: LimitFile = {
  all: RULES,
  partsOf: Object.fromEntries([...RULES.keys()].map((name) => [name, [name]])),
};
/** Another file with other rules in the place of some. */
const withOther = (...rules: [string, Rule][]): LimitFile => ({ ...FILE, all: new Map([...RULES, ...rules]) });
const worksOf = (agent: string, names: readonly string[], more: Partial<LimitedWork> = {}): [string, LimitedWork][] =>
  names.map((name) => [name, { agent, key: 1, ...more }]);
const WORKS = new Map<string, LimitedWork>([
  ...worksOf('plain', ['p1', 'p2']),
  ...worksOf('plain', ['other'], { key: 2 }),
  ...worksOf('held', ['h1', 'h2']),
  ...worksOf('paced', ['r1', 'r2', 'r3', 'r4']),
  ...worksOf('weighed', ['u1', 'u2'], { units: 3 }),
  ...worksOf('breaker', ['b1', 'b2']),
  ...worksOf('stopped', ['s1', 's2']),
]);

let seq = 0;

const entry = (at: number, more: Partial<Logged>): Logged => {
  seq += 1;
  const none = { limit_name: null, options: null, execution: null, correlation_id: null, state: null, retry_at: null };
  const others = {
    process: null,
    configuration: null,
    lease_owner: null,
    limit_keys: null,
    fair_key: null,
    blocked_on: null,
    breaker_key: null,
    open_until: null,
    paused_agent: null,
    is_paused: null,
    lease_token: null,
  };
  return { seq, at, ...none, ...others, started_at: at, ...more };
};

/** Its limits are those of the first file. */
const moves = (at: number, name: string, state: Logged['state'], retry_at: number | null = null): Logged => {
  const keys = WORKS.has(name) ? keysIn(FILE, WORKS.get(name)!) : null;
  const lease = { lease_token: `${name} ${at}` };
  return entry(at, { execution: name, correlation_id: name, state, retry_at, limit_keys: keys, ...lease });
};

const startsIn = (process: string, at: number, name: string): Logged => ({
  ...moves(at, name, 'running'),
  lease_owner: process,
});

/** A process registers with a configuration. With null, it leaves. */
const registers = (at: number, process: string, configuration: string | null): Logged =>
  entry(at, { process, configuration });

const sets = (at: number, limit_name: string, options: object | null): Logged =>
  entry(at, { limit_name, options: options && JSON.stringify(options), started_at: options && at });

const breaks = (at: number, open_until: number | null): Logged =>
  entry(at, { breaker_key: '["breaker",1]', open_until });

const pauses = (at: number, is_paused: number): Logged => entry(at, { paused_agent: 'stopped', is_paused });

function breachesOf(entries: readonly Logged[], until = 0, files: readonly LimitFile[] = [FILE]): string[] {
  const model = new LimitModel(files, WORKS, { longestMs: LONGEST_MS, between: (from, to) => to - from });
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
      [moves(0, 'r1', 'running'), sets(1, 'paced', { concurrency: 1 }), moves(2, 'r2', 'running')],
      2,
      /^r2 starts .* 1 of 1 are used$/,
    ],
    [
      'too many starts for a rate',
      [moves(0, 'r1', 'running'), moves(1, 'r2', 'running'), moves(98, 'r3', 'running')],
      98,
      /^r3 starts at 98 with .* units too many for its rate$/,
    ],
    [
      'a start for which a rate had no room when it began to wait for the lock',
      [moves(1_000, 'r1', 'running'), moves(400, 'r2', 'running')],
      1_000,
      /^r2 starts at 400 with .* units too many for its rate$/,
    ],
    [
      'too many units for a rate',
      [moves(0, 'u1', 'running'), moves(190, 'u2', 'running')],
      190,
      /^u2 starts at 190 with .* units too many for its rate$/,
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

describe('the model of limits, of which values and files change', () => {
  const KEYLESS = withOther(rule('plain', { concurrency: 1 }));
  const WITHOUT_HOLD = withOther(rule('held', { concurrency: 1 }));
  const SLOWER = withOther(rule('paced', { rate: { perSecond: 5, burst: 1 } }));
  const WIDER = withOther(rule('plain', { concurrency: 2, isKeyed: true }));
  const WITHOUT_BREAKER: LimitFile = {
    all: new Map([...RULES].filter(([name]) => name !== 'breaker')),
    partsOf: { ...FILE.partsOf, breaker: [] },
  };
  const first = registers(0, 'one', 'first');
  /** The only process has the second file from then on. */
  const changes = (at: number): Logged[] => [registers(at, 'one', null), registers(at, 'two', 'second')];
  const KEYLESS_P2 = { limit_keys: '[["plain",null,1]]' };

  it.each<[string, LimitFile, Logged[]]>([
    [
      'a start with the key of the second file',
      KEYLESS,
      [...changes(1), { ...moves(2, 'p2', 'pending'), ...KEYLESS_P2 }],
    ],
    [
      'a start while what holds a limit waits, of which the second file has no hold',
      WITHOUT_HOLD,
      [moves(0, 'h1', 'running'), moves(1, 'h1', 'pending', 50), ...changes(2), moves(3, 'h2', 'running')],
    ],
    [
      'a start in a process with a higher limit, while another one has the lower one',
      WIDER,
      [startsIn('one', 0, 'p1'), registers(1, 'two', 'second'), startsIn('two', 2, 'p2')],
    ],
    [
      'a start by each rate, while processes have different ones',
      SLOWER,
      [
        ...[
          startsIn('one', 0, 'r1'),
          startsIn('one', 0, 'r2'),
          registers(1, 'two', 'second'),
          startsIn('two', 2, 'r3'),
        ],
        startsIn('one', 100, 'r4'),
      ],
    ],
    [
      'a start through a breaker that the second file does not have',
      WITHOUT_BREAKER,
      [breaks(0, 5_000), ...changes(1), moves(1_000, 'b1', 'running')],
    ],
    [
      'starts at a faster rate as soon as it is set',
      FILE,
      [
        ...[moves(0, 'r1', 'running'), moves(0, 'r2', 'running'), sets(50, 'paced', { rate: '100/s', burst: 2 })],
        moves(60, 'r3', 'running'),
      ],
    ],
  ])('allows %s', (_, second, entries) => {
    expect(breachesOf([first, ...entries], 0, [FILE, second])).toEqual([]);
  });

  it.each<[string, LimitFile, Logged[], number, RegExp]>([
    [
      'a key that no file has had since the work was sent',
      KEYLESS,
      [...changes(1), { ...moves(2, 'p2', 'pending'), limit_keys: '[["plain",2,1]]' }],
      2,
      /^p2 of plain has the limits \[\["plain",2,1\]\], which no configuration says$/,
    ],
    [
      'work that waits and gets the key of the second file',
      KEYLESS,
      [moves(0, 'p2', 'pending'), ...changes(1), { ...moves(2, 'p2', 'pending'), ...KEYLESS_P2 }],
      2,
      /^p2 has the limits \[\["plain",null,1\]\], and had \[\["plain",1,1\]\] before$/,
    ],
    [
      'a start above the limit of the key that work came with',
      KEYLESS,
      [moves(0, 'p1', 'running'), moves(0, 'p2', 'pending'), ...changes(1), moves(2, 'p2', 'running')],
      2,
      /^p2 starts at 2 with \["plain",1\], of which 1 of 1 are used$/,
    ],
    [
      'a start above the limit of its process, while another one has a higher one',
      WIDER,
      [startsIn('one', 0, 'p1'), registers(1, 'two', 'second'), startsIn('one', 2, 'p2')],
      2,
      /^p2 starts at 2 with .* 1 of 1 are used$/,
    ],
    [
      'a start of what holds its share by one file, while what has it by the other one runs',
      WITHOUT_HOLD,
      [
        ...[startsIn('one', 0, 'h1'), moves(1, 'h1', 'pending'), registers(2, 'two', 'second')],
        ...[startsIn('two', 3, 'h2'), startsIn('one', 4, 'h1')],
      ],
      4,
      /^h1 starts at 4 with .* 1 of 1 are used$/,
    ],
    [
      'work that waits although the second file has a higher limit',
      WIDER,
      [moves(0, 'p1', 'running'), moves(0, 'p2', 'pending'), ...changes(1)],
      2 + LONGEST_MS,
      /^p2 might have started at 1,/,
    ],
    [
      'work that waits for a breaker that the second file does not have',
      WITHOUT_BREAKER,
      [breaks(0, 9_000), moves(0, 'b1', 'pending'), ...changes(1)],
      2 + LONGEST_MS,
      /^b1 might have started at 1,/,
    ],
    [
      'a start that forgets what has started at another rate of a file',
      SLOWER,
      [moves(0, 'r1', 'running'), moves(0, 'r2', 'running'), ...changes(1), moves(2, 'r3', 'running')],
      2,
      /^r3 starts at 2 with .* units too many for its rate$/,
    ],
    [
      'a start that forgets what has started before a client has set another rate',
      FILE,
      [
        ...[moves(0, 'r1', 'running'), moves(0, 'r2', 'running'), sets(50, 'paced', { rate: '100/s', burst: 2 })],
        moves(52, 'r3', 'running'),
      ],
      52,
      /^r3 starts at 52 with .* units too many for its rate$/,
    ],
    [
      'too many starts since a client has set another rate',
      FILE,
      [
        ...[moves(0, 'r1', 'running'), sets(1_000, 'paced', { rate: '5/s', burst: 1 }), moves(1_001, 'r2', 'running')],
        moves(1_150, 'r3', 'running'),
      ],
      1_150,
      /^r3 starts at 1150 with .* units too many for its rate$/,
    ],
  ])('finds %s', (_, second, entries, until, found) => {
    expect(breachesOf([first, ...entries], until, [FILE, second])).toEqual([expect.stringMatching(found)]);
  });

  it('finds a start above the limit that one holds which has started while no file had it', () => {
    const WITHOUT_HELD: LimitFile = {
      all: new Map([...RULES].filter(([name]) => name !== 'held')),
      partsOf: { ...FILE.partsOf, held: [] },
    };
    const entries = [
      ...[first, moves(0, 'h1', 'pending'), moves(0, 'h2', 'pending'), ...changes(1), moves(2, 'h1', 'running')],
      ...[moves(3, 'h1', 'pending', 50), registers(4, 'two', null), registers(4, 'three', 'third')],
      moves(5, 'h2', 'running'),
    ];
    expect(breachesOf(entries, 5, [FILE, WITHOUT_HELD, FILE])).toEqual([
      expect.stringMatching(/^h2 starts at 5 .* 1 of 1 are used$/),
    ]);
  });
});

/** With the key of `fair_by`. */
const queued = (at: number, name: string): Logged => ({
  ...moves(at, name, 'pending'),
  fair_key: JSON.stringify(name[0]),
});

it('the model of turns finds a key that has to wait for too many starts of another one', () => {
  const works = new Map(['a1', 'a2', 'a3', 'b1'].map((name) => [name, { key: name[0]!, weight: 1 }]));
  const log = [
    ...[...works.keys()].map((name) => queued(0, name)),
    ...['a1', 'a2', 'a3'].map((name) => moves(1, name, 'running')),
  ];
  expect(unfair(log, works)).toEqual([expect.stringMatching(/^3 of a start before one of b/)]);
  expect(unfair(log.slice(0, -1), works)).toEqual([]);
  const again = [...log.slice(0, -1), queued(2, 'a2'), moves(3, 'a2', 'running')];
  expect(unfair(again, works)).toEqual([expect.stringMatching(/^3 of a start before one of b/)]);
  expect(unfair(again, works, { holds: true })).toEqual([]);
});

it('the model of turns lets what a limit has let go start before a key that waits since then', () => {
  const works = new Map(['a1', 'a2', 'a3', 'b1'].map((name) => [name, { key: name[0]!, weight: 1 }]));
  const all = ['a1', 'a2', 'a3'];
  const waits = (name: string): Logged => ({ ...queued(0, name), blocked_on: '["pool",null]' });
  const starts = (): Logged[] => all.map((name) => moves(3, name, 'running'));
  const released = [...all.map(waits), ...all.map((name) => queued(1, name))];
  expect(unfair([...released, queued(2, 'b1'), ...starts()], works)).toEqual([]);
  const late = [waits('a1'), queued(1, 'b1'), queued(2, 'a1')];
  const others = ['a2', 'a3'].map((name) => queued(2, name));
  expect(unfair([...late, ...others, ...starts()], works)).toEqual([
    expect.stringMatching(/^3 of a start before one of b/),
  ]);
});

it('the model of turns lets executions start in any order while a process has no fair_by, and finds a key that no file says', () => {
  const works = new Map(['a1', 'a2', 'a3', 'b1'].map((name) => [name, { key: name[0]!, weight: 1, sentAt: 0 }]));
  const found = (log: readonly Logged[]): string[] =>
    unfair(log, works, { history: new FileHistory([{ hasKeys: true }, { hasKeys: false }]) });
  const first = registers(0, 'one', 'first');
  const all = [...works.keys()].map((name) => queued(1, name));
  const starts = ['a1', 'a2', 'a3'].map((name) => moves(3, name, 'running'));
  const other = registers(2, 'two', 'second');
  expect(found([first, ...all, other, ...starts])).toEqual([]);
  expect(found([first, ...all, other, registers(2, 'two', null), ...starts])).toEqual([
    expect.stringMatching(/^3 of a start before one of b/),
  ]);
  expect(found([first, moves(1, 'a1', 'pending')])).toEqual(['a1 has the key null, which no configuration says']);
  expect(found([first, other, moves(3, 'a1', 'pending')])).toEqual([]);
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

it('the model of priorities lets keys take turns until no process has fair_by', () => {
  const works = new Map(['old', 'young'].map((name, n) => [name, { priority: 0, sent: sent(20 * n) }]));
  const found = (...changes: Logged[]): string[] =>
    outOfOrder(
      [
        ...[registers(0, 'one', 'first'), moves(0, 'old', 'pending'), moves(20, 'young', 'pending'), ...changes],
        ...[moves(90, 'before', 'running'), moves(95, 'before', 'completed'), moves(100, 'young', 'running')],
      ],
      new Map([...works, ['before', { priority: 1, sent: sent(0) }]]),
      new FileHistory([{ hasKeys: true }, { hasKeys: false }]),
    );
  const second = registers(50, 'two', 'second');
  expect(found()).toEqual([]);
  expect(found(second)).toEqual([]);
  expect(found(second, registers(60, 'one', null))).toEqual([expect.stringMatching(/^young starts before old/)]);
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
    ...{ id: `id-${correlation}`, correlation, state: 'completed', definition: 'one' },
    ...{ cachedFrom: null, answers: [correlation] },
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
    ['another definition', { definition: 'two' }, /has the answer of another definition$/],
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
