// The checker alone, on histories that are written here.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { check } from './check.js';
import type { Artifact, End, Entry, Execution, Look } from './entry.js';

const PROGRAM = new URL('./check-history.ts', import.meta.url).pathname;

/** The parts of a history, for a test to change. */
interface Parts {
  entries: Entry[];
  look: Look;
  end: End;
}

/** A run with a key whose first answer was lost, a nap that is cancelled, a pair and two reads: no promise is broken. */
function good(): Parts {
  const settled = { generation: 1, settled_at: 150 };
  const correlations = [
    { id: 'c1', request: 'run-1', state: 'completed', ...settled },
    { id: 'nap-2', request: 'nap-2', state: 'cancelled', ...settled },
    { id: 'left-3', request: 'left-3', state: 'completed', ...settled },
    { id: 'right-3', request: 'right-3', state: 'completed', ...settled },
  ];
  const look: Look = { running: { clerk: 1 }, open: {}, correlations: structuredClone(correlations) };
  const end: End = {
    artifacts: [
      { position: 1, id: 'a1', type: 'Row', execution: null, request: 'run-1', n: 1 },
      { position: 2, id: 'a2', type: 'Nap', execution: null, request: 'nap-2', n: 2 },
      { position: 4, id: 'a4', type: 'Left', execution: null, request: 'left-3', n: 3 },
      { position: 5, id: 'a5', type: 'Right', execution: null, request: 'right-3', n: 3 },
      { position: 6, id: 'a6', type: 'Match', execution: 'e3', request: 'right-3', n: 3 },
      { position: 9, id: 'a9', type: 'Done', execution: 'e1', request: 'run-1', n: 1 },
    ],
    correlations,
    runs: [
      { id: 'r1', request: 'run-1', status: 'completed' },
      { id: 'nap-2', request: 'nap-2', status: 'cancelled' },
    ],
    batches: [],
  };
  const keyed = { idempotency_key: 'key-1' };
  const unkeyed = { idempotency_key: null };
  const answer = (text: string, replayed = false): unknown => ({ text, replayed });
  const entries = [
    ...operation('observer 1', 'configure', 'limits', [0, 0], undefined, {
      agents: { clerk: 1, sleeper: 2, matchmaker: 1 },
      batch: 2,
      batch_rows: 3,
    }),
    entry(100, 'client 1', 'invoke', 'run', 'run-1', keyed),
    entry(130, 'client 1', 'info', 'run', 'run-1'),
    ...operation('client 2', 'run', 'run-1', [140, 160], keyed, answer('{"run_id":"r1"}')),
    ...operation('client 2', 'run', 'run-1', [170, 180], keyed, answer('{"run_id":"r1"}', true)),
    ...operation('client 3', 'nap', 'nap-2', [100, 110], unkeyed, answer('{"run_id":"nap-2"}')),
    ...operation('client 3', 'cancel', 'nap-2', [115, 120], undefined, answer('')),
    ...operation('client 4', 'left', 'left-3', [100, 120], unkeyed, answer('{}')),
    ...operation('client 4', 'right', 'right-3', [121, 140], unkeyed, answer('{}')),
    ...operation(
      'reader 1',
      'read',
      'changelog',
      [150, 151],
      { after: 0 },
      {
        entries: [
          [1, 'a1'],
          [2, 'a2'],
          [4, 'a4'],
        ],
      },
    ),
    ...operation(
      'reader 1',
      'read',
      'changelog',
      [200, 201],
      { after: 4 },
      {
        entries: [
          [5, 'a5'],
          [6, 'a6'],
          [9, 'a9'],
        ],
      },
    ),
    ...execution('e1', { agent: 'clerk', request: 'run-1' }, [200, 400]),
    entry(101, 'executor e2', 'invoke', 'execute', 'e2', { agent: 'sleeper', request: 'nap-2' }),
    entry(119, 'executor e2', 'fail', 'execute', 'e2'),
    ...execution('e3', { agent: 'matchmaker', request: 'right-3' }, [141, 142]),
  ];
  return { entries, look, end };
}

function entry(
  time: number,
  process: string,
  type: Entry['type'],
  operation: string,
  key: string,
  value?: unknown,
): Entry {
  return { time, process, type, operation: operation as Entry['operation'], key, value };
}

const operation = (
  process: string,
  name: string,
  key: string,
  [begin, end]: [number, number],
  asked: unknown,
  answer: unknown,
): Entry[] => [entry(begin, process, 'invoke', name, key, asked), entry(end, process, 'ok', name, key, answer)];

const execution = (id: string, asked: Execution, times: [number, number]): Entry[] =>
  operation(`executor ${id} ${times[0]}`, 'execute', id, times, asked, undefined);

const textOf = ({ entries, look, end }: Parts): string =>
  [
    ...entries,
    ...operation('observer 1', 'look', 'database', [300, 301], undefined, look),
    ...operation('observer 1', 'end', 'end', [900, 901], undefined, end),
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');

type Mistake = (parts: Parts) => unknown;

const artifact = ({ end }: Parts, id: string): Artifact => end.artifacts.find((one) => one.id === id)!;
const answersTo = ({ entries }: Parts, key: string): Entry[] =>
  entries.filter((one) => one.key === key && one.type === 'ok');
const without = (parts: Parts, request: string): void => {
  parts.end.artifacts = parts.end.artifacts.filter((one) => one.request !== request);
  parts.end.correlations = parts.end.correlations.filter((one) => one.request !== request);
};

const MISTAKES: [string, Mistake, string][] = [
  ['an acknowledged request is lost', (parts) => without(parts, 'left-3'), 'left-3 was acknowledged and is lost'],
  [
    'an acknowledged request is missing in a later snapshot',
    ({ look }) => look.correlations.splice(1, 1),
    'nap-2 was acknowledged at 110, and missing at 300',
  ],
  [
    'a refused request exists',
    (parts) => Object.assign(answersTo(parts, 'left-3')[0]!, { type: 'fail' }),
    'left-3 was refused and exists',
  ],
  [
    'an artifact comes from nothing',
    ({ end }) =>
      end.artifacts.push({ position: 10, id: 'a10', type: 'Left', execution: null, request: 'left-9', n: 9 }),
    'left-9 exists, and was never requested',
  ],
  [
    'a key is answered in two ways',
    (parts) => Object.assign(answersTo(parts, 'run-1')[1]!, { value: { text: '{"run_id":"r2"}', replayed: true } }),
    'run-1 was answered differently',
  ],
  [
    'the request of a key is done twice',
    (parts) => Object.assign(answersTo(parts, 'run-1')[1]!, { value: { text: '{"run_id":"r1"}', replayed: false } }),
    'run-1 was done 2 times, say its answers',
  ],
  [
    'a run exists twice',
    ({ end }) => end.runs.push({ id: 'r7', request: 'run-1', status: 'completed' }),
    'run-1 exists 2 times',
  ],
  [
    'a run has another id than its caller got',
    ({ end }) => Object.assign(end.runs[0]!, { id: 'r7' }),
    'run-1 was acknowledged as r1, and is r7',
  ],
  ['work was not done', ({ end }) => end.artifacts.pop(), 'run-1 has 0 Done, not 1'],
  [
    'work was done twice',
    (parts) => parts.end.artifacts.push({ ...artifact(parts, 'a9'), position: 10, id: 'a10' }),
    'run-1 has 2 Done, not 1',
  ],
  [
    'an execution ran twice',
    ({ entries }) => entries.push(...execution('e4', { agent: 'clerk', request: 'run-1' }, [500, 600])),
    'run-1 has 2 execution of clerk, not 1',
  ],
  [
    'a cancelled nap has slept',
    ({ end }) =>
      end.artifacts.push({ position: 10, id: 'a10', type: 'Slept', execution: null, request: 'nap-2', n: 2 }),
    'nap-2 has 1 Slept, not 0',
  ],
  [
    'an acknowledged cancellation was not applied',
    ({ end }) => Object.assign(end.correlations[1]!, { state: 'completed' }),
    'the cancellation of nap-2 was acknowledged, and it is completed',
  ],
  [
    'something is cancelled without a request',
    ({ end }) => Object.assign(end.correlations[2]!, { state: 'cancelled' }),
    'left-3 is cancelled without a request',
  ],
  [
    'a failed attempt has published',
    (parts) => parts.end.artifacts.push({ ...artifact(parts, 'a9'), id: 'a10', position: 10, execution: 'e2' }),
    'execution e2 of sleeper has 1 outputs, not 0',
  ],
  [
    'an execution runs again after its end',
    ({ entries }) => entries.push(...execution('e1', { agent: 'clerk', request: 'run-1' }, [500, 600])),
    'execution e1 of clerk ran again after it had completed',
  ],
  [
    'an execution never ends',
    ({ entries }) =>
      Object.assign(
        entries.find(({ key, type }) => key === 'e2' && type === 'fail')!,
        { type: 'info' },
      ),
    'execution e2 of sleeper never ended',
  ],
  [
    'a pair meets twice',
    ({ end }) =>
      end.artifacts.push({ position: 10, id: 'a10', type: 'Match', execution: null, request: 'left-3', n: 3 }),
    'pair 3 has 2 matches, not 1',
  ],
  [
    'a batch has run a row twice',
    ({ entries, end }) => {
      entries.push(entry(100, 'client 9', 'invoke', 'batch', 'batch-5', { idempotency_key: null }));
      end.batches.push({ id: 'b5', request: 'batch-5', status: 'completed', succeeded: 3, open: 0 });
      for (const [index, n] of [0, 1, 1].entries())
        end.artifacts.push({
          position: 20 + index,
          id: `b${index}`,
          type: 'Done',
          execution: null,
          request: 'batch-5',
          n,
        });
    },
    'batch-5 has 3 outputs of 2 rows, not 3',
  ],
  [
    'work is left',
    ({ end }) => Object.assign(end.correlations[2]!, { state: 'active', settled_at: null }),
    'left-3 is active at the end',
  ],
  [
    'a correlation settles twice',
    ({ look }) => Object.assign(look.correlations[0]!, { settled_at: 149 }),
    'run-1 settled as completed (149), and was completed (150) later',
  ],
  [
    'a settled correlation is opened again',
    ({ end }) => Object.assign(end.correlations[0]!, { generation: 2 }),
    'run-1 was opened 2 times',
  ],
  [
    'too many executions run in a snapshot',
    ({ look }) => Object.assign(look.running, { clerk: 2 }),
    '2 executions of clerk ran in the snapshot of 301, not 1',
  ],
  [
    'too many runs of a batch run in a snapshot',
    ({ look }) => Object.assign(look.open, { b5: 3 }),
    '3 runs of b5 ran in the snapshot of 301, not 2',
  ],
  [
    'executions overlap by their own times',
    ({ entries }) => entries.push(...execution('e4', { agent: 'clerk', request: 'left-3' }, [300, 500])),
    '2 executions of clerk ran at 300, not 1',
  ],
  [
    'an artifact came into a position that a reader had passed',
    ({ end }) =>
      end.artifacts.push({ position: 3, id: 'a3', type: 'Audit', execution: null, request: 'left-3', n: null }),
    'reader 1 read from 0 on at 150 and missed 3 a3',
  ],
  [
    'a reader saw what was rolled back',
    (parts) => Object.assign(artifact(parts, 'a6'), { position: 7 }),
    'reader 1 read from 4 on at 200 and missed 7 a6, and got 6 a6, which do not exist',
  ],
  [
    'two artifacts have one position',
    (parts) => Object.assign(artifact(parts, 'a9'), { position: 6 }),
    'position 6 has several artifacts',
  ],
  [
    'a process continues after it lost an answer',
    ({ entries }) => entries.push(entry(800, 'client 1', 'invoke', 'left', 'left-3', { idempotency_key: null })),
    'client 1 continues with left left-3 after an info',
  ],
];

describe('check-history', () => {
  it('finds nothing in a history that keeps every promise', () => {
    expect(check(textOf(good())).breaches).toEqual([]);
  });

  it.each(MISTAKES)('finds that %s', (_, plant, breach) => {
    const parts = good();
    plant(parts);
    expect(check(textOf(parts)).breaches).toContain(breach);
  });

  it('refuses a file that is not a whole history', () => {
    expect(() => check('{"time":1}\n')).toThrow('line 1: must have time, process, type, operation and key');
    expect(() => check('none\n')).toThrow('line 1: must be JSON');
    expect(() => check('')).toThrow('must have one answer to end (got 0)');
  });

  it('runs by itself, and its exit code says whether a promise is broken', () => {
    const folder = mkdtempSync(join(tmpdir(), 'starling-history-'));
    const file = join(folder, 'history.jsonl');
    writeFileSync(file, textOf(good()));
    expect(execFileSync(process.execPath, [PROGRAM, file], { encoding: 'utf8' })).toMatch(/^\d+ operations, 0 broken/);
    const bad = good();
    bad.end.artifacts.pop();
    writeFileSync(file, textOf(bad));
    const { status, stdout } = spawnSync(process.execPath, [PROGRAM, file], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([1, expect.stringContaining('run-1 has 0 Done, not 1')]);
    expect(spawnSync(process.execPath, [PROGRAM], { encoding: 'utf8' })).toMatchObject({
      status: 1,
      stderr: 'name one history file\n',
    });
    rmSync(folder, { recursive: true });
  });
});
