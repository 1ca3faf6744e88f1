// An experiment on the messages of the support desk (BANKING77), over HTTP on a database. The agents are classifiers of the
// test; the test classifies the same messages by itself.
import { readFileSync } from 'node:fs';

import { parse } from 'csv-parse/sync';

import { Board } from '../e2e/board.js';
import { comparisonOf, Experiments, meansOf, variantOf } from '../e2e/experiment-board.js';
import { eventually } from '../support/eventually.js';
import { type Labelled, NaiveBayes } from './naive-bayes.js';
import { bootstrapInterval, pairedShares } from './paired-shares.js';

const fileOf = (name: string): URL => new URL(`../../examples/support-desk/banking77/${name}`, import.meta.url);
const read = (name: string): Labelled[] => parse(readFileSync(fileOf(name)), { columns: true, bom: true });

/** All 3,080 take a minute. Messages of one intent are side by side. */
const ROWS = Number(process.env.STARLING_EXPERIMENT_ROWS ?? 200);

const NAMES = ['little', 'much', 'pairs'] as const;
type Name = (typeof NAMES)[number];
const agent = (name: Name): string => `
  ${name}:
    consumes: [{ types: [Message], where: '${name === 'little'}' }]
    publishes: [{ type: Intent }]
    engine: { kind: function, module: ./${name}.mjs }`;
const CONFIG = `
types:
  Message: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
agents:${NAMES.map(agent).join('')}
`;

/** Takes the classifier from the memory of the test. */
const module = (name: Name): string =>
  `export default async ([{ payload }]) => ({ intent: globalThis.classifiers.${name}.guess(payload.text) });`;

describe('an experiment on the messages of the support desk', () => {
  const lessons = read('train.csv');
  const messages = read('test.csv').slice(0, ROWS);
  const classifiers: Record<Name, NaiveBayes> = {
    little: new NaiveBayes(lessons, 0.1),
    much: new NaiveBayes(lessons, 1),
    pairs: new NaiveBayes(lessons, 0.1, { bigrams: true }),
  };
  let board: Board;

  beforeAll(async () => {
    Object.assign(globalThis, { classifiers });
    const files = Object.fromEntries(NAMES.map((name) => [`${name}.mjs`, module(name)]));
    board = await Board.start(CONFIG, { files });
  });
  afterAll(() => board?.close());

  it('has the accuracy, the intervals and the rows of an independent calculation', async () => {
    const experiments = new Experiments(board.http);
    const variants = { little: 'alpha 0.1', much: 'alpha 1.0', pairs: 'with bigrams' };
    const id = await experiments.start({
      data: { csv: readFileSync(fileOf('test.csv'), 'utf8'), agent: 'little', limit: ROWS },
      expected: { column: 'category' },
      output: 'Intent',
      variants: NAMES.map((name) => ({ name: variants[name], agent: name })),
      scorers: [{ name: 'accuracy', kind: 'equals', path: '/intent' }],
      max_workers: 20,
    });
    await eventually('it has ended', async () => (await experiments.get(id)).state !== 'running', 900_000);
    const done = await experiments.get(id);
    const rows = messages.length;
    expect(done).toMatchObject({ state: 'completed', rows, ended_trials: 3 * rows, failed_trials: 0 });

    const guesses = NAMES.map((name) => messages.map(({ text }) => classifiers[name].guess(text)));
    const scores = guesses.map((of) => of.map((guess, row) => (guess === messages[row]!.category ? 1 : 0)));
    const shares = scores.map((of) => of.reduce<number>((total, score) => total + score, 0) / rows);
    expect(meansOf(done, 'accuracy')).toEqual(shares.map((share) => expect.closeTo(share, 12) as number));

    for (const at of [1, 2]) {
      const name = variants[NAMES[at]!];
      const { wins, losses, difference, error } = pairedShares(scores[0]!, scores[at]!);
      const { interval, ...compared } = comparisonOf(done, name, 'accuracy');
      expect(wins + losses).toBeGreaterThan(0);
      expect(compared).toMatchObject({ pairs: rows, wins, losses, ties: rows - wins - losses, test: 'mcnemar_exact' });
      expect(compared.difference).toBeCloseTo(difference, 12);
      const bootstrap = bootstrapInterval(scores[0]!, scores[at]!);
      for (const side of [0, 1]) expect(Math.abs(interval![side]! - bootstrap[side]!)).toBeLessThan(0.4 * error);
      const changed = guesses[at]!.filter((guess, row) => guess !== guesses[0]![row]).length;
      expect(variantOf(done, name).changed_rows).toBe(changed);
    }

    const changed = messages.flatMap((_, row) => (new Set(guesses.map((of) => of[row])).size > 1 ? row : []));
    const found = await experiments.rows(id, { changed: true, limit: 100 });
    expect(found.map(({ index }) => index)).toEqual(changed);
  }, 1_000_000);
});
