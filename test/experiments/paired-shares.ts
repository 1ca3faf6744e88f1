import { Random } from '../support/random.js';

const DRAWS = 1_000;

/** How two lists of scores 0 and 1 for the same rows differ, calculated independently of the service. */
export function pairedShares(baseline: readonly number[], variant: readonly number[]) {
  const count = baseline.length;
  const wins = baseline.filter((score, row) => score < variant[row]!).length;
  const losses = baseline.filter((score, row) => score > variant[row]!).length;
  const difference = (wins - losses) / count;
  /** The standard error of the difference of paired shares. */
  const error = Math.sqrt((wins + losses) / count - difference ** 2) / Math.sqrt(count);
  return { wins, losses, difference, error };
}

/** The 95 % interval of the difference by another bootstrap, with the generator of the tests. */
export function bootstrapInterval(baseline: readonly number[], variant: readonly number[]): [number, number] {
  const random = new Random(5);
  const count = baseline.length;
  const means = Array.from({ length: DRAWS }, () => {
    let total = 0;
    for (let drawn = 0; drawn < count; drawn += 1) {
      const row = Math.floor(random.next() * count);
      total += variant[row]! - baseline[row]!;
    }
    return total / count;
  }).sort((left, right) => left - right);
  return [means[0.025 * DRAWS]!, means[0.975 * DRAWS - 1]!];
}
