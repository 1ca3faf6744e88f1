import { UsageBody } from '../../../http/dto/usage-body.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import type { TestName } from '../statistics.js';

const TESTS = ['mcnemar_exact', 'permutation_exact', 'permutation'] as const satisfies TestName[];
const VERDICTS = ['better', 'worse', 'undecided'] as const;
const BETTER = ['higher', 'lower'] as const;

/** How often scores have which size. */
export class HistogramBody {
  @ApiProperty({ description: 'The least score of all variants' })
  from!: number;

  @ApiProperty({ description: 'The largest score of all variants' })
  to!: number;

  @ApiProperty({
    type: [Number],
    description: 'Scores of this variant in each of 20 equal steps between them, or in one step if both are the same',
  })
  counts!: number[];
}

/** The scores that one scorer gave to one variant. */
export class ScoreSummaryBody {
  @ApiProperty({ description: 'Name of the scorer' })
  scorer!: string;

  @ApiProperty({ type: 'integer', description: 'How many rows it has scored' })
  count!: number;

  @ApiProperty({ type: 'integer', description: 'For how many rows it failed; each of them says why' })
  errors!: number;

  @ApiProperty({ type: Number, nullable: true, description: 'Null if it has scored none' })
  mean!: number | null;

  @ApiProperty({ type: Number, nullable: true })
  median!: number | null;

  @ApiProperty({ type: Number, nullable: true, description: 'The 95th percentile' })
  p95!: number | null;

  @ApiProperty({ required: false, description: 'Absent if the scorer has scored no row of any variant' })
  histogram?: HistogramBody;
}

export class VariantSummaryBody {
  @ApiProperty({ description: 'Name of the variant' })
  variant!: string;

  @ApiProperty({ type: 'integer', description: 'How many of its rows have ended' })
  trials!: number;

  @ApiProperty({ type: 'integer', description: 'How many of them have no output' })
  failed_trials!: number;

  @ApiProperty({ type: 'integer', description: 'Rows whose output differs from that of the first variant' })
  changed_rows!: number;

  @ApiProperty({
    type: UsageBody,
    required: false,
    description: 'Model usage of its rows, without judges; absent if they used no model',
  })
  usage?: UsageBody;

  @ApiProperty({ type: [ScoreSummaryBody] })
  scores!: ScoreSummaryBody[];
}

/** A variant compared with the first one by one scorer, row by row. */
export class VariantComparisonBody {
  @ApiProperty({ description: 'Name of the variant' })
  variant!: string;

  @ApiProperty({ description: 'Name of the scorer' })
  scorer!: string;

  @ApiProperty({ enum: BETTER, description: 'Which scores are better' })
  better!: (typeof BETTER)[number];

  @ApiProperty({ type: 'integer', description: 'Rows with a score for both' })
  pairs!: number;

  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'Mean of the variant minus mean of the first variant, over these rows; null if there are none',
  })
  difference!: number | null;

  @ApiProperty({
    type: [Number],
    nullable: true,
    minItems: 2,
    maxItems: 2,
    description: 'The 95 % bootstrap interval of the difference; null if there are fewer than two such rows',
  })
  interval!: [number, number] | null;

  @ApiProperty({ type: 'integer', description: 'Rows in which the variant is better' })
  wins!: number;

  @ApiProperty({ type: 'integer', description: 'Rows in which the first variant is better' })
  losses!: number;

  @ApiProperty({ type: 'integer' })
  ties!: number;

  @ApiProperty({
    enum: TESTS,
    required: false,
    description:
      "`mcnemar_exact` if all scores are 0 or 1. Otherwise a permutation test of the rows' differences: with all " +
      'permutations (`permutation_exact`) for up to 14 rows that differ, or with 5,000 random ones. Absent without pairs',
  })
  test?: TestName;

  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'Two-sided: how likely such a difference is if the two are equally good',
  })
  p_value!: number | null;

  @ApiProperty({ enum: VERDICTS, description: '`undecided` if `p_value` is at least 0.05' })
  verdict!: (typeof VERDICTS)[number];
}

/** The result of an experiment. */
export class ExperimentSummaryBody {
  @ApiProperty({ description: 'The first variant, which the others are compared with' })
  baseline!: string;

  @ApiProperty({ type: [VariantSummaryBody] })
  variants!: VariantSummaryBody[];

  @ApiProperty({ type: [VariantComparisonBody], description: 'Each other variant with each scorer' })
  comparisons!: VariantComparisonBody[];
}
