// Runs `starling experiment` against the built server.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse } from 'csv-parse/sync';

import type { ExperimentBody } from '../../src/features/experiments/dto/experiment-body.js';
import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';
import { Clients, ID } from './clients.js';
import { describeOnTerminal, framesIn } from './progress-bar.js';
import { Folder } from './run-program.js';
import { StartedProgram } from './started-program.js';

const CONFIG = `
types:
  Message: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
  Intent: { schema: { type: object } }
agents:
  gated: { consumes: [{ types: [Message], where: 'false' }], publishes: [{ type: Intent }], retry: { attempts: 1 }, engine: { kind: function, module: ./gated.mjs } }
  classifier: { consumes: [{ types: [Message] }], publishes: [{ type: Intent }], engine: { kind: expression, expression: '{"intent": payload.text.contains("card") ? "card" : "other"}' } }
`;

/** Waits for a file, so that a test decides when a trial ends. */
const GATED = `
import { existsSync } from 'node:fs';
export default async ([{ payload }], { signal }) => {
  while (!existsSync(new URL('gate', import.meta.url)) && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 10));
  if (payload.text === 'money') throw new Error('there is no money');
  return { intent: 'card' };
};`;

const CSV = 'text,label\na card,card\na cat,other\nmoney,card\n';

const experiment = (thresholds: string): string => `
name: everything
data: { csv: messages.csv, agent: classifier }
expected: { column: label }
output: Intent
variants:
  - { name: now }
  - name: card
    overrides: { classifier: { expression: "{'intent': 'card'}" } }
scorers:
  - { name: right, kind: equals, path: /intent }
${thresholds}
`;

const folder = new Folder();
let service: Service;
let clients: Clients;

beforeAll(async () => {
  await builtProgram();
  folder.write('gated.mjs', GATED);
  const config = folder.write('starling.yaml', CONFIG);
  folder.write('messages.csv', CSV);
  service = await Service.start(['--config', config, '--database-url', `sqlite:${join(folder.path, 'a.db')}`]);
  clients = new Clients(service);
});
afterAll(async () => {
  await service?.kill();
  folder.remove();
});

const file = (thresholds = ''): string => folder.write('experiment.yaml', experiment(thresholds));
const experiments = async (): Promise<number> =>
  (await service.get<{ items: object[] }>('/api/v1/experiments')).items.length;

test('says in one line what is wrong, and starts nothing', async () => {
  const wrong: [string, RegExp][] = [
    [
      'thresholds: [{ variant: crad, scorer: right, at_least: 1 }]',
      /^thresholds\[0\]\.variant: must be one of now and card/,
    ],
    ['thresholds: [{ variant: card, scorer: right }]', /^thresholds\[0\]: needs at_least or at_most/],
    ['thresholds: [{ variant: now, scorer: right, value: low, at_least: 0 }]', /^thresholds\[0\]\.value: low compares/],
    ['outptu: Intent', /outptu/],
    ['name: {', /experiment\.yaml: /],
  ];
  for (const [line, message] of wrong) {
    const ended = await clients.run('experiment', 'run', file(line));
    expect([line, ended]).toEqual([line, { code: 1, stdout: '', stderr: expect.stringMatching(message) as string }]);
    expect(ended.stderr.trimEnd()).not.toContain('\n');
  }
  expect(await clients.run('experiment', 'run', join(folder.path, 'nope.yaml'))).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^cannot read .*nope\.yaml \(ENOENT\)\n$/) as string,
  });
  writeFileSync(join(folder.path, 'latin.csv'), Buffer.from('text,label\ncaf\u00e9,other\n', 'latin1'));
  const latin = folder.write('latin.yaml', experiment('').replace('messages.csv', 'latin.csv'));
  expect(await clients.run('experiment', 'run', latin)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^.*latin\.csv is not UTF-8; save it as UTF-8\n$/) as string,
  });
  expect(await experiments()).toBe(0);
});

test('runs an experiment, and its exit code says whether a threshold was missed', async () => {
  const reached = await clients.run(
    'experiment',
    'run',
    file(
      'thresholds: [{ variant: now, scorer: right, at_least: 0.6 }, { variant: card, scorer: right, value: difference, at_least: -0.1 }]',
    ),
  );
  expect(reached.code).toBe(0);
  const { state, summary } = JSON.parse(reached.stdout) as ExperimentBody;
  expect([state, summary!.variants.map(({ scores }) => scores[0]!.mean)]).toEqual(['completed', [2 / 3, 2 / 3]]);

  const missed = await clients.run(
    'experiment',
    'run',
    file('thresholds: [{ variant: card, scorer: right, at_least: 0.9 }]'),
  );
  expect(missed.code).toBe(1);
  expect(missed.stderr).toMatch(/Missed: right of card: mean is 0\.66\d*, and must be at least 0\.9\n/);
});

/** The first variant has the scores 1, 1 and 0, the other one 1, 0 and 1. `errs` has no score. */
const scored = (thresholds: string): string =>
  folder.write(
    'scored.yaml',
    experiment(
      `  - { name: errs, kind: cel, expression: output.nothing }\n  - { name: same, kind: cel, expression: '0.7' }\nthresholds: [${thresholds}]`,
    ),
  );

test('an experiment that is within its thresholds ends with 0', async () => {
  const reached = [
    '{ variant: now, scorer: right, at_least: 0.6, at_most: 0.7 }',
    '{ variant: card, scorer: right, value: p_value, at_most: 1 }',
    '{ variant: card, scorer: right, value: low, at_least: -1, at_most: -0.1 }',
    '{ variant: card, scorer: right, value: high, at_least: 0.1, at_most: 1 }',
    // The sum of three is 2.0999999999999996.
    '{ variant: card, scorer: same, at_least: 0.7, at_most: 0.7 }',
  ];
  const ended = await clients.run('experiment', 'run', scored(reached.join()));
  expect(ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Missed') as string });
});

test.each<[threshold: string, figure: RegExp, bound: string]>([
  ['scorer: right, at_most: 0.5', /^right of card: mean is 0\.66\d*$/, 'at most 0.5'],
  ['scorer: right, value: p_value, at_most: 0.05', /^right of card: p_value is 1$/, 'at most 0.05'],
  ['scorer: right, value: low, at_least: 0', /^right of card: low is -(0\.\d+|1)$/, 'at least 0'],
  ['scorer: right, value: high, at_most: 0', /^right of card: high is (0\.\d+|1)$/, 'at most 0'],
  ['scorer: errs, at_least: 0', /^errs of card: mean is not known$/, 'at least 0'],
  ['scorer: errs, at_most: 1', /^errs of card: mean is not known$/, 'at most 1'],
  ['scorer: errs, value: p_value, at_most: 1', /^errs of card: p_value is not known$/, 'at most 1'],
  ['scorer: errs, value: low, at_least: -1', /^errs of card: low is not known$/, 'at least -1'],
  ['scorer: errs, value: high, at_most: 1', /^errs of card: high is not known$/, 'at most 1'],
])('an experiment that misses { %s } ends with 1 and says so', async (threshold, figure, bound) => {
  const ended = await clients.run('experiment', 'run', scored(`{ variant: card, ${threshold} }`));
  expect(ended.code).toBe(1);
  const missed = ended.stderr.split('\n').filter((line) => line.startsWith('Missed: '));
  const [found, needed] = missed.join('\n').slice('Missed: '.length).split(', and must be ');
  expect(found).toMatch(figure);
  expect(needed).toBe(bound);
});

test('shows tables on a terminal, and keeps all rows in a file', async () => {
  const csv = join(folder.path, 'rows.csv');
  const lines = await clients.onTerminal(160, ['experiment', 'run', file(), '--out', csv]);
  const text = lines.join('\n');
  expect(text).toMatch(/state +completed/);
  expect(text).toMatch(/VARIANT +SCORER +MEAN/);
  expect(text).toMatch(/card +right +0\.6667/);
  expect(text).toContain('Compared with now, row by row:');
  expect(text).toMatch(/card +right +0 .*1 +1 +1 +mcnemar_exact +undecided/);
  const rows = parse<Record<string, string>>(readFileSync(csv), { columns: true });
  expect(rows.map(({ index, variant, output, expected, right }) => [index, variant, output, expected, right])).toEqual([
    ['0', 'now', '{"intent":"card"}', '"card"', '1'],
    ['0', 'card', '{"intent":"card"}', '"card"', '1'],
    ['1', 'now', '{"intent":"other"}', '"other"', '1'],
    ['1', 'card', '{"intent":"card"}', '"other"', '0'],
    ['2', 'now', '{"intent":"other"}', '"card"', '0'],
    ['2', 'card', '{"intent":"card"}', '"card"', '1'],
  ]);

  const [latest] = await clients.list<ExperimentBody>('experiment', 'list');
  expect(latest).toMatchObject({ experiment_id: ID, name: 'everything', state: 'completed', rows: 3 });
  const ndjson = join(folder.path, 'rows.ndjson');
  const watched = await clients.run('experiment', 'watch', latest!.experiment_id, '--out', ndjson);
  expect(watched.code).toBe(0);
  expect(readFileSync(ndjson, 'utf8').trimEnd().split('\n')).toHaveLength(3);
  expect(await clients.run('experiment', 'cancel', latest!.experiment_id)).toMatchObject({
    code: 1,
    stderr: `Experiment ${latest!.experiment_id} has already ended (completed) and cannot be cancelled\n`,
  });
});

describeOnTerminal('on a terminal', () => {
  const gated = (): string => folder.write('gated.yaml', experiment('').replace('agent: classifier', 'agent: gated'));
  const open = (): void => void folder.write('gate', '');
  /** Starts an experiment of three rows and two variants, which waits. */
  const waiting = async (columns: number): Promise<StartedProgram> => {
    rmSync(join(folder.path, 'gate'), { force: true });
    const program = await StartedProgram.onTerminal(columns, ['experiment', 'run', gated()], {
      STARLING_URL: service.url,
    });
    await eventually('the bar is drawn', () => framesIn(program.stdout).length > 0);
    return program;
  };
  const newest = async (): Promise<ExperimentBody> => (await clients.list<ExperimentBody>('experiment', 'list'))[0]!;
  afterEach(open);

  test('a bar shows how many trials have ended and failed, and the tables follow it', async () => {
    const program = await waiting(76);
    expect(framesIn(program.stdout)[0]).toMatch(/^░+ 0% 0\/6 trials/);
    open();
    expect(await program.ended).toBe(0);
    const frames = framesIn(program.stdout);
    expect(frames.at(-1)).toMatch(/^█+ 100% 6\/6 trials, [\d.]+\/s, 2 failed$/);
    expect(Math.max(...frames.map((frame) => frame.length))).toBeLessThanOrEqual(76);
    const after = program.stdout.slice(program.stdout.lastIndexOf(frames.at(-1)!));
    expect(after).toMatch(/state +completed/);
    expect(after).toMatch(/done +6 of 6, 2 failed/);
    expect(after).toContain('Compared with now, row by row:');
  });

  test('Ctrl-C stops the watching with 130, and the experiment can be watched again', async () => {
    const program = await waiting(120);
    program.process.stdin!.write('\u0003');
    expect(await program.ended).toBe(130);
    const { experiment_id: id, state } = await newest();
    expect(state).toBe('running');
    expect(program.stdout).toContain(
      `\r\nThe experiment continues. To watch it again: npx starling experiment watch ${id} --url ${service.url}`,
    );
    const again = await StartedProgram.onTerminal(120, ['experiment', 'watch', id], { STARLING_URL: service.url });
    await eventually('the bar is drawn again', () => framesIn(again.stdout).length > 0);
    open();
    expect(await again.ended).toBe(0);
    expect(framesIn(again.stdout).at(-1)).toMatch(/^█+ 100% 6\/6 trials/);
  });

  test('the bar of an experiment that is cancelled ends, and the exit code is 1', async () => {
    const program = await waiting(120);
    const { experiment_id: id } = await newest();
    expect(await clients.run('experiment', 'cancel', id)).toMatchObject({ code: 0 });
    expect(await program.ended).toBe(1);
    expect(program.stdout).toMatch(/state +cancelled/);
  });
});

test('shows the progress in a pipe as lines on standard error', async () => {
  const { code, stdout, stderr } = await clients.runAlone('experiment', 'run', file());
  const { experiment_id: id, state } = JSON.parse(stdout) as ExperimentBody;
  expect([code, state]).toEqual([0, 'completed']);
  expect(stderr).toMatch(new RegExp(`^Experiment ${id}\n(?:\\d+% \\d/6 trials, 0 failed\n)+$`));
});
