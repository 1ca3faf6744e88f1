import { usageField } from '../../http/dto/usage-body.js';
import { type Definition, lowerIsBetter, type Scorer } from './definition.js';
import type {
  ExperimentSummaryBody,
  ScoreSummaryBody,
  VariantComparisonBody,
  VariantSummaryBody,
} from './dto/experiment-summary.js';
import { comparison, distribution, histogram, type Pair } from './statistics.js';
import type { ScoredTrial } from './trials.repository.js';

export type Summary = ExperimentSummaryBody;

/** From this on, a difference does not count as chance. */
const SIGNIFICANT = 0.05;

/** The ended trials of one variant. */
interface VariantSums extends Pick<ScoredTrial, 'input_tokens' | 'output_tokens' | 'cost'> {
  trials: number;
  /** How many have no output. */
  failed: number;
}

/** The scores of all trials, by variant, scorer and row: NaN where there is none. Also the sums of each variant. */
export class ScoreTable {
  private readonly columns: Float64Array[][];
  private readonly failures: number[][];
  private readonly digests: (string | null | undefined)[][];
  private readonly sums: VariantSums[];

  constructor(
    { variants, scorers }: Definition,
    private readonly rows: number,
  ) {
    this.columns = variants.map(() => scorers.map(() => new Float64Array(rows).fill(NaN)));
    this.failures = variants.map(() => scorers.map(() => 0));
    this.digests = variants.map(() => new Array<undefined>(rows));
    this.sums = variants.map(() => ({ trials: 0, failed: 0, input_tokens: 0, output_tokens: 0, cost: null }));
  }

  /** `scores`: one for each scorer; null if it has failed. Empty if the trial could not be scored. */
  add(trial: ScoredTrial, scores: readonly (number | null)[]): void {
    const { position: row, variant, output_digest } = trial;
    this.digests[variant]![row] = output_digest;
    addTo(this.sums[variant]!, trial);
    for (const [scorer, column] of this.columns[variant]!.entries()) {
      const score = scores[scorer] ?? null;
      if (score === null) this.failures[variant]![scorer]! += 1;
      else column[row] = score;
    }
  }

  of(variant: number, scorer: number): number[] {
    return Array.from(this.columns[variant]![scorer]!).filter((score) => !Number.isNaN(score));
  }

  sumsOf(variant: number): VariantSums {
    return this.sums[variant]!;
  }

  /** The least and the largest score of all variants. Null without scores. */
  range(scorer: number): { from: number; to: number } | null {
    let [from, to] = [Infinity, -Infinity];
    for (const columns of this.columns)
      for (const score of columns[scorer]!) {
        if (score < from) from = score;
        if (score > to) to = score;
      }
    return from > to ? null : { from, to };
  }

  failed(variant: number, scorer: number): number {
    return this.failures[variant]![scorer]!;
  }

  /** The rows that the scorer has scored for both variants. */
  pairs(variant: number, scorer: number): Pair[] {
    const [baseline, column] = [this.columns[0]![scorer]!, this.columns[variant]![scorer]!];
    const pairs: Pair[] = [];
    for (let row = 0; row < this.rows; row += 1)
      if (!Number.isNaN(baseline[row]!) && !Number.isNaN(column[row]!)) pairs.push([baseline[row]!, column[row]!]);
    return pairs;
  }

  /** Rows whose output differs from that of the first variant. */
  changed(variant: number): number {
    let changed = 0;
    for (let row = 0; row < this.rows; row += 1) {
      const [baseline, other] = [this.digests[0]![row], this.digests[variant]![row]];
      if (baseline !== undefined && other !== undefined && baseline !== other) changed += 1;
    }
    return changed;
  }
}

function addTo(sums: VariantSums, { error, input_tokens, output_tokens, cost }: ScoredTrial): void {
  sums.trials += 1;
  if (error !== null) sums.failed += 1;
  sums.input_tokens += input_tokens;
  sums.output_tokens += output_tokens;
  if (cost !== null) sums.cost = (sums.cost ?? 0) + cost;
}

/** Yields between short calculations, so that other work can run. The same scores give the same summary. */
export function* summarized({ variants, scorers, seed }: Definition, table: ScoreTable): Generator<void, Summary> {
  const comparisons: VariantComparisonBody[] = [];
  for (const [index, { name }] of variants.entries()) {
    if (index === 0) continue;
    for (const [place, scorer] of scorers.entries())
      comparisons.push(yield* compared(table.pairs(index, place), { variant: name, scorer, seed }));
  }
  return {
    baseline: variants[0]!.name,
    variants: variants.map(({ name }, index) => variantBody(name, index, { scorers, table })),
    comparisons,
  };
}

function variantBody(
  name: string,
  index: number,
  { scorers, table }: { scorers: readonly Scorer[]; table: ScoreTable },
): VariantSummaryBody {
  const sums = table.sumsOf(index);
  return {
    variant: name,
    trials: sums.trials,
    failed_trials: sums.failed,
    changed_rows: table.changed(index),
    ...usageField(sums),
    scores: scorers.map((scorer, place): ScoreSummaryBody => {
      const scores = table.of(index, place);
      const { count, mean, median, p95 } = distribution(scores);
      const range = table.range(place);
      return {
        scorer: scorer.name,
        count,
        errors: table.failed(index, place),
        mean,
        median,
        p95,
        ...(range && { histogram: { ...range, counts: histogram(scores, range) } }),
      };
    }),
  };
}

function* compared(
  pairs: readonly Pair[],
  { variant, scorer, seed }: { variant: string; scorer: Scorer; seed: number },
): Generator<void, VariantComparisonBody> {
  const isLower = lowerIsBetter(scorer);
  const found = yield* comparison(pairs, { seed, lowerIsBetter: isLower });
  return {
    variant,
    scorer: scorer.name,
    better: isLower ? 'lower' : 'higher',
    pairs: found.pairs,
    difference: found.difference,
    interval: found.low === null ? null : [found.low, found.high!],
    wins: found.wins,
    losses: found.losses,
    ties: found.ties,
    ...(found.test !== null && { test: found.test }),
    p_value: found.pValue,
    verdict: verdictOf(found, isLower),
  };
}

function verdictOf(
  { pValue, difference }: { pValue: number | null; difference: number | null },
  isLower: boolean,
): VariantComparisonBody['verdict'] {
  if (pValue === null || pValue >= SIGNIFICANT || difference === 0) return 'undecided';
  return difference! > 0 !== isLower ? 'better' : 'worse';
}
