/**
 * The statistics of experiments. Everything here is pure: the same numbers and the same seed give the same result. Long
 * calculations are generators that stop every 50,000 draws, so that a caller can let other work run.
 */

/** The scores of one row: that of the first variant, and that of the variant that is compared with it. */
export type Pair = readonly [baseline: number, variant: number];

/** `exact`: all sign changes were tried; otherwise some thousands of random ones. */
export type TestName = 'mcnemar_exact' | 'permutation_exact' | 'permutation';

export interface Comparison {
  pairs: number;
  /** Mean of the variant minus mean of the baseline. Null without pairs. */
  difference: number | null;
  /** 95 % bootstrap interval of the difference. Null with fewer than two pairs, which do not show how rows differ. */
  low: number | null;
  high: number | null;
  /** Rows in which the variant is better. */
  wins: number;
  losses: number;
  ties: number;
  test: TestName | null;
  /** Two-sided. Null without pairs. */
  pValue: number | null;
}

export interface Distribution {
  count: number;
  mean: number | null;
  median: number | null;
  p95: number | null;
}

const RESAMPLES = 2_000;
const PERMUTATIONS = 5_000;
/** With so few differences, all 2^n sign changes are tried. */
const MOST_EXACT = 14;
const HISTOGRAM_STEPS = 20;
const DRAWS_IN_A_SLICE = 50_000;
/** One pair, drawn again and again, would give an interval without a width. */
const FEWEST_FOR_INTERVAL = 2;
const INTERVAL = [0.025, 0.975] as const;

/** Compares a variant with the baseline, row by row. `lowerIsBetter`: for durations and costs. */
export function* comparison(
  pairs: readonly Pair[],
  { seed, lowerIsBetter }: { seed: number; lowerIsBetter: boolean },
): Generator<void, Comparison> {
  const differences = pairs.map(([baseline, variant]) => variant - baseline);
  const higher = differences.filter((difference) => difference > 0).length;
  const lower = differences.filter((difference) => difference < 0).length;
  const counts = {
    pairs: pairs.length,
    wins: lowerIsBetter ? lower : higher,
    losses: lowerIsBetter ? higher : lower,
    ties: pairs.length - higher - lower,
  };
  if (pairs.length === 0) return { ...counts, difference: null, low: null, high: null, test: null, pValue: null };
  const [low, high] = pairs.length < FEWEST_FOR_INTERVAL ? [null, null] : yield* bootstrapInterval(differences, seed);
  const { test, pValue } = isBinary(pairs)
    ? { test: 'mcnemar_exact' as const, pValue: mcNemar(lower, higher) }
    : yield* permutationTest(differences, seed);
  return { ...counts, difference: mean(differences), low, high, test, pValue };
}

/** Describes the scores of one variant. */
export function distribution(scores: readonly number[]): Distribution {
  if (scores.length === 0) return { count: 0, mean: null, median: null, p95: null };
  const sorted = Float64Array.from(scores).sort();
  return { count: scores.length, mean: mean(scores), median: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) };
}

/**
 * Counts the values in equal steps from `from` to `to`, which are the least and the largest that there can be. It has a
 * single step if both are the same.
 */
export function histogram(values: readonly number[], { from, to }: { from: number; to: number }): number[] {
  if (from === to) return [values.length];
  const counts = new Array<number>(HISTOGRAM_STEPS).fill(0);
  // Divided first, because the difference of two large numbers may be infinite.
  const step = to / HISTOGRAM_STEPS - from / HISTOGRAM_STEPS;
  for (const value of values) {
    // Both are zero if the step is too small for a number.
    const index = Math.floor(value / step - from / step) || 0;
    counts[Math.min(HISTOGRAM_STEPS - 1, Math.max(0, index))]! += 1;
  }
  return counts;
}

/** The 95 % percentile bootstrap interval of the mean: the rows are drawn again, with replacement. */
function* bootstrapInterval(values: readonly number[], seed: number): Generator<void, [low: number, high: number]> {
  const draws = new Draws(seed);
  const means = new Float64Array(RESAMPLES);
  let left = DRAWS_IN_A_SLICE;
  for (let sample = 0; sample < RESAMPLES; sample += 1) {
    let sum = 0;
    for (let drawn = 0; drawn < values.length; drawn += 1) sum += values[draws.below(values.length)]!;
    means[sample] = sum / values.length;
    left -= values.length;
    if (left > 0) continue;
    left = DRAWS_IN_A_SLICE;
    yield;
  }
  means.sort();
  return [quantile(means, INTERVAL[0]), quantile(means, INTERVAL[1])];
}

/**
 * McNemar's exact test: of the rows that only one of the two got right, each is equally likely to be a win or a loss if
 * the two are equally good. The approximation by chi-squared is wrong for few such rows, and saves nothing here.
 */
export function mcNemar(losses: number, wins: number): number {
  const count = losses + wins;
  const fewer = Math.min(losses, wins);
  // Logarithms, because 2^-n of a thousand rows is too small for a number.
  let term = -count * Math.LN2;
  const terms = [term];
  for (let hits = 1; hits <= fewer; hits += 1) {
    term += Math.log((count - hits + 1) / hits);
    terms.push(term);
  }
  const tail = terms.reduce((sum, each) => sum + Math.exp(each - term), 0) * Math.exp(term);
  return Math.min(1, 2 * tail);
}

/**
 * A permutation test of paired differences: if the two are equally good, each difference could as well have the other sign.
 * `pValue` is the share of sign changes whose sum is at least as far from zero as the one that was seen.
 */
function* permutationTest(
  differences: readonly number[],
  seed: number,
): Generator<void, { test: TestName; pValue: number }> {
  // Zeros have no sign.
  const sizes = Float64Array.from(differences.filter((difference) => difference !== 0).map(Math.abs));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const seen = Math.abs(differences.reduce((sum, difference) => sum + difference, 0));
  // Sums of the same numbers in another order differ in their last digits.
  const least = seen - 1e-9 * total;
  if (sizes.length <= MOST_EXACT) return { test: 'permutation_exact', pValue: exactShare(sizes, least) };
  const draws = new Draws(seed);
  let asFar = 0;
  let left = DRAWS_IN_A_SLICE;
  for (let permutation = 0; permutation < PERMUTATIONS; permutation += 1) {
    if (Math.abs(draws.signedSum(sizes)) >= least) asFar += 1;
    left -= sizes.length;
    if (left > 0) continue;
    left = DRAWS_IN_A_SLICE;
    yield;
  }
  // The order that was seen is one of the permutations, so that the result is never zero.
  return { test: 'permutation', pValue: (asFar + 1) / (PERMUTATIONS + 1) };
}

function exactShare(sizes: Float64Array, least: number): number {
  const changes = 2 ** sizes.length;
  let asFar = 0;
  for (let change = 0; change < changes; change += 1) {
    let sum = 0;
    for (let index = 0; index < sizes.length; index += 1) sum += change & (1 << index) ? sizes[index]! : -sizes[index]!;
    if (Math.abs(sum) >= least) asFar += 1;
  }
  return asFar / changes;
}

const isBinary = (pairs: readonly Pair[]): boolean =>
  pairs.every((pair) => pair.every((score) => score === 0 || score === 1));

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Interpolates between the two nearest values. */
function quantile(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)]!;
  return below + (sorted[Math.ceil(place)]! - below) * (place - Math.floor(place));
}

/** Random numbers that depend on the seed alone (xorshift, Marsaglia 2003). They need not be hard to guess. */
class Draws {
  private state: number;

  constructor(seed: number) {
    // The state must not be zero, and similar seeds must not give similar numbers.
    this.state = Math.imul(seed ^ 0x5bd1e995, 0x9e3779b1) | 1;
    for (let skipped = 0; skipped < 8; skipped += 1) this.next();
  }

  /** A whole number from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor(((this.next() >>> 0) / 2 ** 32) * limit);
  }

  /** Adds up the numbers, each with a random sign. */
  signedSum(values: Float64Array): number {
    let sum = 0;
    let bits = 0;
    for (let index = 0; index < values.length; index += 1) {
      if (index % 32 === 0) bits = this.next();
      sum += bits & 1 ? values[index]! : -values[index]!;
      bits >>>= 1;
    }
    return sum;
  }

  private next(): number {
    let state = this.state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (this.state = state);
  }
}
