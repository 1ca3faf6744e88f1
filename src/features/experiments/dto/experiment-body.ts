import type { ReplayMode } from '../../../database/schema.js';
import { PageBody } from '../../../http/dto/page.js';
import { REPLAY_MODES } from '../../../http/dto/replay-modes.js';
import { UsageBody } from '../../../http/dto/usage-body.js';
import { ApiParam, ApiProperty, schemaPath } from '../../../http/openapi/documentation.js';
import { QueryChoice, QueryInteger } from '../../../http/validation/query.js';
import type { DataSet, Expected, Scorer, Variant } from '../definition.js';
import type { ShownState } from '../experiments.repository.js';
import { ExperimentSummaryBody } from './experiment-summary.js';

export const STATES = ['running', 'completed', 'failed', 'cancelled'] as const satisfies ShownState[];

export class ExperimentListQuery {
  @QueryChoice({ description: 'Keeps only experiments in this state', choices: STATES, example: 'completed' })
  state?: ShownState;

  @QueryInteger({ description: 'Maximum number of items on the page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;

  @QueryInteger({ description: 'Number of items to skip', min: 0, max: 1_000_000, default: 0, example: 0 })
  offset!: number;
}

/** An experiment in a list. */
export class ListedExperimentBody {
  @ApiProperty({ format: 'uuid' })
  experiment_id!: string;

  @ApiProperty({ required: false })
  name?: string;

  @ApiProperty({
    enum: STATES,
    description: '`failed`: it stopped before all rows were tried, and `error` says why',
  })
  state!: ShownState;

  @ApiProperty({ type: 'integer', description: 'Rows of its data set' })
  rows!: number;

  @ApiProperty({ type: [String], description: 'Names of the variants, the baseline first' })
  variants!: string[];

  @ApiProperty({ type: 'integer', description: 'Rows times variants' })
  total_trials!: number;

  @ApiProperty({ type: 'integer' })
  ended_trials!: number;

  @ApiProperty({ type: 'integer', description: 'How many of the ended ones have no output' })
  failed_trials!: number;

  @ApiProperty({ description: 'Progress from 0 to 100' })
  progress_percentage!: number;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ type: String, format: 'date-time', required: false })
  ended_at?: string;

  @ApiProperty({ type: String, required: false })
  error?: string;

  @ApiProperty({
    type: UsageBody,
    required: false,
    description: 'Model usage of the ended trials and their judges; absent if they used no model',
  })
  usage?: UsageBody;
}

/** The request of an experiment, without its rows. */
export class ExperimentDefinitionBody {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'The kind of its data set, without the rows',
    example: { kind: 'batch', batch: '019a7f5e-0a11-7c00-9d3e-8b7a6c5d4e3f' },
  })
  data!: DataSet;

  @ApiProperty({ allOf: [{ $ref: schemaPath('ExperimentExpected') }], required: false })
  expected?: Expected;

  @ApiProperty({ description: 'The type of the artifact that is scored' })
  output!: string;

  @ApiProperty({ enum: REPLAY_MODES })
  mode!: ReplayMode;

  @ApiProperty({ type: 'array', items: { $ref: schemaPath('ExperimentVariant') } })
  variants!: Variant[];

  @ApiProperty({ type: 'array', items: { $ref: schemaPath('ExperimentScorer') } })
  scorers!: Scorer[];

  @ApiProperty({ type: 'integer' })
  seed!: number;

  @ApiProperty({ type: 'integer' })
  max_workers!: number;

  @ApiProperty({ required: false })
  max_cost?: number;

  @ApiProperty({ type: 'integer', required: false })
  max_tokens?: number;
}

export class ExperimentBody extends ListedExperimentBody {
  @ApiProperty()
  definition!: ExperimentDefinitionBody;

  @ApiProperty({
    type: [String],
    required: false,
    description:
      'The configurations of its variants that no live process has as they were when the experiment began. Their trials ' +
      'continue as soon as a process has them; absent if there are none',
  })
  waiting_for_configurations?: string[];

  @ApiProperty({ type: ExperimentSummaryBody, required: false, description: 'The result; absent while it runs' })
  summary?: ExperimentSummaryBody;
}

export class ExperimentListBody {
  @ApiProperty({ type: [ListedExperimentBody] })
  items!: ListedExperimentBody[];

  @ApiProperty()
  pagination!: PageBody;
}

const LISTED_EXAMPLE: ListedExperimentBody = {
  experiment_id: '019a7f72-6b1d-7c3a-9f10-2d4e6f8a0b1c',
  name: 'a shorter prompt',
  state: 'running',
  rows: 3_080,
  variants: ['now', 'short'],
  total_trials: 6_160,
  ended_trials: 1_540,
  failed_trials: 0,
  progress_percentage: 25,
  created_at: '2026-11-20T10:00:00.000Z',
};

export const EXPERIMENT_EXAMPLE: ExperimentBody = {
  ...LISTED_EXAMPLE,
  definition: {
    data: { kind: 'batch', batch: '019a7f5e-0a11-7c00-9d3e-8b7a6c5d4e3f' },
    expected: { recorded: true },
    output: 'Intent',
    mode: 'recorded',
    variants: [{ name: 'now' }, { name: 'short', overrides: { classifier: { instructions: 'Name the intent.' } } }],
    scorers: [{ name: 'same', kind: 'equals', path: '/intent' }],
    seed: 1,
    max_workers: 5,
  },
};

const zeroAndOne = (zeros: number, ones: number): number[] => [zeros, ...new Array<number>(18).fill(0), ones];

export const SUMMARY_EXAMPLE: ExperimentSummaryBody = {
  baseline: 'now',
  variants: [
    {
      variant: 'now',
      trials: 3_080,
      failed_trials: 0,
      changed_rows: 0,
      scores: [
        {
          scorer: 'same',
          count: 3_080,
          errors: 0,
          mean: 1,
          median: 1,
          p95: 1,
          histogram: { from: 0, to: 1, counts: zeroAndOne(0, 3_080) },
        },
      ],
    },
    {
      variant: 'short',
      trials: 3_080,
      failed_trials: 0,
      changed_rows: 62,
      scores: [
        {
          scorer: 'same',
          count: 3_080,
          errors: 0,
          mean: 0.979870129870_13,
          median: 1,
          p95: 1,
          histogram: { from: 0, to: 1, counts: zeroAndOne(62, 3_018) },
        },
      ],
    },
  ],
  comparisons: [
    {
      variant: 'short',
      scorer: 'same',
      better: 'higher',
      pairs: 3_080,
      difference: -0.020129870129_87,
      interval: [-0.025324675324_68, -0.015259740259_74],
      wins: 0,
      losses: 62,
      ties: 3_018,
      test: 'mcnemar_exact',
      p_value: 4.336808689942018e-19,
      verdict: 'worse',
    },
  ],
};

export const EXPERIMENT_LIST_EXAMPLE: ExperimentListBody = {
  items: [LISTED_EXAMPLE],
  pagination: { limit: 50, offset: 0, has_more: false },
};

export const ApiExperimentId = (): MethodDecorator =>
  ApiParam({
    name: 'experiment_id',
    description: "The experiment's id",
    schema: { type: 'string', format: 'uuid', example: LISTED_EXAMPLE.experiment_id },
  });
