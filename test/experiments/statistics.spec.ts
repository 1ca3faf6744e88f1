// The statistics of experiments, as functions. The same figures are calculated independently: by formulas, by counting all
// cases, and with the generator of the tests. The messages are those of the support desk (BANKING77).
import { readFileSync } from 'node:fs';

import { parse } from 'csv-parse/sync';

import {
  type Comparison,
  comparison,
  distribution,
  histogram,
  mcNemar,
  type Pair,
} from '../../src/features/experiments/statistics.js';
import { Random } from '../support/random.js';
import { type Labelled, NaiveBayes } from './naive-bayes.js';
import { bootstrapInterval, pairedShares } from './paired-shares.js';

const compared = (pairs: readonly Pair[], { seed = 1, lowerIsBetter = false } = {}): Comparison => {
  const steps = comparison(pairs, { seed, lowerIsBetter });
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;

describe('McNemar’s exact test', () => {
  it.each([
    // 2 * (1 + 10 + 45) / 2^10
    [2, 8, 112 / 1_024],
    [0, 5, 2 / 32],
    [5, 0, 2 / 32],
    [3, 3, 1],
    [0, 0, 1],
  ])('of %i losses and %i wins gives the share of the binomial distribution', (losses, wins, expected) => {
    expect(mcNemar(losses, wins)).toBeCloseTo(expected, 12);
  });

  it('agrees with whole numbers of any size', () => {
    // Pascal's triangle, without logarithms.
    const choose = (count: number): bigint[] => {
      let row = [1n];
      for (let at = 0; at < count; at += 1) row = [1n, ...row.slice(1).map((value, index) => value + row[index]!), 1n];
      return row;
    };
    const tail = choose(300)
      .slice(0, 121)
      .reduce((total, value) => total + value, 0n);
    const expected = Number((2n * tail * 10n ** 18n) / 2n ** 300n) / 1e18;

    expect(mcNemar(120, 180) / expected).toBeCloseTo(1, 9);
    expect(mcNemar(1_000, 1_400)).toBeLessThan(1e-10);
  });
});

describe('the comparison of two variants', () => {
  it('counts wins, losses and ties by row', () => {
    const pairs: Pair[] = [
      [1, 2],
      [3, 3],
      [5, 1],
      [0, 4],
    ];

    expect(compared(pairs)).toMatchObject({ pairs: 4, wins: 2, losses: 1, ties: 1, difference: 0.25 });
    expect(compared(pairs, { lowerIsBetter: true })).toMatchObject({ wins: 1, losses: 2, difference: 0.25 });
  });

  it('is the same for the same seed, and differs a little for another one', () => {
    const random = new Random(7);
    const pairs = Array.from({ length: 200 }, (): Pair => [random.next(), random.next()]);

    expect(compared(pairs, { seed: 3 })).toEqual(compared(pairs, { seed: 3 }));
    expect(compared(pairs, { seed: 3 }).low).not.toBe(compared(pairs, { seed: 4 }).low);
    expect(compared(pairs, { seed: 3 }).low).toBeCloseTo(compared(pairs, { seed: 4 }).low!, 1);
  });

  it('of no pairs says so', () => {
    expect(compared([])).toEqual({
      pairs: 0,
      difference: null,
      low: null,
      high: null,
      wins: 0,
      losses: 0,
      ties: 0,
      test: null,
      pValue: null,
    });
  });

  it('of equal variants finds no difference', () => {
    const same: Pair[] = Array(2).fill([0.5, 0.5]);
    expect(compared(same)).toMatchObject({ difference: 0, low: 0, high: 0, test: 'permutation_exact', pValue: 1 });
    expect(compared([[1, 1]])).toMatchObject({ difference: 0, test: 'mcnemar_exact', pValue: 1 });
  });

  it('of one row has no interval', () => {
    expect(compared([[0, 3]])).toMatchObject({ pairs: 1, difference: 3, low: null, high: null, wins: 1, pValue: 1 });
  });

  it('tries all sign changes where there are few', () => {
    // The 8 sums of ±1, ±2 and ±4: 7 and 5, with both signs, are at least as far from zero as the sum that was seen.
    const pairs: Pair[] = [
      [0, -1],
      [0, 2],
      [0, 4],
      [3, 3],
    ];

    expect(compared(pairs)).toMatchObject({ test: 'permutation_exact', pValue: 4 / 8 });
  });

  it('agrees with a permutation test with other random numbers', () => {
    const random = new Random(11);
    const pairs = Array.from({ length: 120 }, (): Pair => [random.next(), random.next() + 0.07]);
    const differences = pairs.map(([one, other]) => other - one);
    const seen = Math.abs(sum(differences));
    const drawn = Array.from({ length: 20_000 }, () =>
      Math.abs(sum(differences.map((difference) => (random.next() < 0.5 ? difference : -difference)))),
    );
    const { test, pValue } = compared(pairs);

    expect(test).toBe('permutation');
    // Three standard errors of a share, of 5,000 and 20,000 draws.
    const share = drawn.filter((each) => each >= seen).length / drawn.length;
    const error = Math.sqrt((share * (1 - share)) / 5_000) + Math.sqrt((share * (1 - share)) / 20_000);
    expect(Math.abs(pValue! - share)).toBeLessThan(3 * error + 0.001);
  });
});

describe('the distribution of scores', () => {
  it('has mean, median and 95th percentile', () => {
    const scores = Array.from({ length: 101 }, (_, index) => 100 - index);

    expect(distribution(scores)).toEqual({ count: 101, mean: 50, median: 50, p95: 95 });
    expect(distribution([2, 1])).toMatchObject({ mean: 1.5, median: 1.5 });
    expect(distribution([])).toEqual({ count: 0, mean: null, median: null, p95: null });
  });

  it('has counts in equal steps of the range', () => {
    const range = { from: 0, to: 10 };
    expect(histogram([0, 0.4, 0.6, 10, 9.9], range)).toEqual([2, 1, ...new Array<number>(17).fill(0), 2]);
    expect(histogram([], range)).toEqual(new Array<number>(20).fill(0));
    expect(histogram([7, 7], { from: 7, to: 7 })).toEqual([2]);
    const largest = { from: -Number.MAX_VALUE, to: Number.MAX_VALUE };
    expect(histogram([-Number.MAX_VALUE, Number.MAX_VALUE], largest)).toEqual([1, ...new Array<number>(18).fill(0), 1]);
    const least = { from: 0, to: Number.MIN_VALUE };
    expect(histogram([0, Number.MIN_VALUE], least).reduce((sum, count) => sum + count)).toBe(2);
  });
});

describe('classifiers of the support desk, on 3,080 messages', () => {
  const read = (name: string): Labelled[] => {
    const file = new URL(`../../examples/support-desk/banking77/${name}`, import.meta.url);
    return parse(readFileSync(file), { columns: true, bom: true });
  };
  const lessons = read('train.csv');
  const messages = read('test.csv');

  const scoresOf = (classifier: NaiveBayes): number[] =>
    messages.map(({ text, category }) => (classifier.guess(text) === category ? 1 : 0));

  it.each([
    ['alpha 0.1 against alpha 1.0', { alpha: 0.1, bigrams: false }, { alpha: 1, bigrams: false }],
    ['words against words with bigrams', { alpha: 0.1, bigrams: false }, { alpha: 0.1, bigrams: true }],
  ])('%s: accuracy, interval and test agree with an independent calculation', (_name, one, other) => {
    const baseline = scoresOf(new NaiveBayes(lessons, one.alpha, one));
    const variant = scoresOf(new NaiveBayes(lessons, other.alpha, other));
    const found = compared(baseline.map((score, row): Pair => [score, variant[row]!]));

    const count = messages.length;
    expect(count).toBe(3_080);
    const { wins, losses, difference, error } = pairedShares(baseline, variant);
    expect(found).toMatchObject({ pairs: count, wins, losses, test: 'mcnemar_exact' });
    expect(distribution(baseline).mean).toBe(mean(baseline));
    expect(found.difference).toBeCloseTo(mean(variant) - mean(baseline), 12);

    // The normal interval of a paired difference of shares.
    expect(Math.abs(found.low! - (difference - 1.96 * error))).toBeLessThan(0.25 * error);
    expect(Math.abs(found.high! - (difference + 1.96 * error))).toBeLessThan(0.25 * error);

    const [low, high] = bootstrapInterval(baseline, variant);
    expect(Math.abs(found.low! - low)).toBeLessThan(0.4 * error);
    expect(Math.abs(found.high! - high)).toBeLessThan(0.4 * error);

    // The normal approximation of McNemar's test, with continuity correction.
    const statistic = Math.max(0, Math.abs(wins - losses) - 1) / Math.sqrt(wins + losses);
    expect(found.pValue).toBeCloseTo(2 * upperTail(statistic), 2);
  });
});

/** The share of the standard normal distribution above `from`, by Simpson's rule up to 12. */
function upperTail(from: number): number {
  const density = (at: number): number => Math.exp((-at * at) / 2) / Math.sqrt(2 * Math.PI);
  const steps = 2_000;
  const width = (12 - from) / steps;
  const inner = Array.from(
    { length: steps - 1 },
    (_, index) => density(from + (index + 1) * width) * (index % 2 ? 2 : 4),
  );
  return (width / 3) * (density(from) + sum(inner) + density(12));
}
