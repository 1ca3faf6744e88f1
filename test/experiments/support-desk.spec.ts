// An experiment on the messages of the support desk (BANKING77), over HTTP on a database. The agents are the classifier of
// the test with two values of alpha; the test classifies the same messages by itself.
import { readFileSync } from 'node:fs';

import { parse } from 'csv-parse/sync';

import { Board } from '../e2e/board.js';
import { comparisonOf, Experiments, meansOf } from '../e2e/experiment-board.js';
import { eventually } from '../support/eventually.js';
import { type Labelled, NaiveBayes } from './naive-bayes.js';

const fileOf = (name: string): URL => new URL(`../../examples/support-desk/banking77/${name}`, import.meta.url);
const read = (name: string): Labelled[] => parse(readFileSync(fileOf(name)), { columns: true, bom: true });

const CONFIG = `
types:
  Message: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
agents:
  little: { consumes: [{ types: [Message] }], publishes: [{ type: Intent }], engine: { kind: function, module: ./little.mjs } }
  much: { consumes: [{ types: [Message], where: 'false' }], publishes: [{ type: Intent }], engine: { kind: function, module: ./much.mjs } }
`;

/** Takes the classifier from the memory of the test. */
const agent = (name: string): string =>
  `export default async ([{ payload }]) => ({ intent: globalThis.classifiers.${name}.guess(payload.text) });`;

describe('an experiment on 3,080 messages', () => {
  const lessons = read('train.csv');
  const messages = read('test.csv');
  const classifiers = { little: new NaiveBayes(lessons, 0.1), much: new NaiveBayes(lessons, 1) };
  let board: Board;

  beforeAll(async () => {
    Object.assign(globalThis, { classifiers });
    const files = { 'little.mjs': agent('little'), 'much.mjs': agent('much') };
    board = await Board.start(CONFIG, { files });
  });
  afterAll(() => board?.close());

  it('has the accuracy, the interval and the rows of an independent calculation', async () => {
    const experiments = new Experiments(board.http);
    const id = await experiments.start({
      data: { csv: readFileSync(fileOf('test.csv'), 'utf8'), agent: 'little' },
      expected: { column: 'category' },
      output: 'Intent',
      variants: [{ name: 'alpha 0.1' }, { name: 'alpha 1.0', agent: 'much' }],
      scorers: [{ name: 'accuracy', kind: 'equals', path: '/intent' }],
      max_workers: 20,
    });
    await eventually('it has ended', async () => (await experiments.get(id)).state !== 'running', 900_000);
    const done = await experiments.get(id);
    expect(done).toMatchObject({ state: 'completed', rows: 3_080, ended_trials: 6_160, failed_trials: 0 });

    const rightOf = ({ guess }: { guess: (text: string) => string }): number[] =>
      messages.map(({ text, category }) => (guess(text) === category ? 1 : 0));
    const little = rightOf({ guess: (text) => classifiers.little.guess(text) });
    const much = rightOf({ guess: (text) => classifiers.much.guess(text) });
    const share = (scores: number[]): number => scores.reduce((total, score) => total + score, 0) / scores.length;
    const means = meansOf(done, 'accuracy');
    expect(means[0]).toBeCloseTo(share(little), 12);
    expect(means[1]).toBeCloseTo(share(much), 12);

    const wins = little.filter((score, row) => score < much[row]!).length;
    const losses = little.filter((score, row) => score > much[row]!).length;
    const { interval, ...compared } = comparisonOf(done, 'alpha 1.0', 'accuracy');
    expect(compared).toMatchObject({ pairs: 3_080, wins, losses, test: 'mcnemar_exact' });
    // The normal interval of a paired difference of shares.
    const difference = (wins - losses) / 3_080;
    const error = Math.sqrt((wins + losses) / 3_080 - difference ** 2) / Math.sqrt(3_080);
    expect(compared.difference).toBeCloseTo(difference, 12);
    expect(Math.abs(interval![0] - (difference - 1.96 * error))).toBeLessThan(0.25 * error);
    expect(Math.abs(interval![1] - (difference + 1.96 * error))).toBeLessThan(0.25 * error);

    const guesses = messages.map(({ text }) => [classifiers.little.guess(text), classifiers.much.guess(text)]);
    const changed = guesses.flatMap(([one, other], row) => (one === other ? [] : row));
    const found = await experiments.rows(id, { changed: true, limit: 100 });
    expect(found.map(({ index }) => index)).toEqual(changed);
  }, 1_000_000);
});
