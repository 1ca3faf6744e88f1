import type { JsonObject } from '../../../common/json.js';
import { RUN_BODY_EXAMPLE, RUN_STATUSES, RunBody } from '../../../http/dto/run-body.js';
import { UsageBody } from '../../../http/dto/usage-body.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { QueryBoolean, QueryChoice, QueryInteger } from '../../../http/validation/query.js';

const STATUSES = ['completed', 'failed'] as const;

const ResultsInputs = (): PropertyDecorator =>
  QueryBoolean({
    description: 'Shows the inputs of each item with its result, without `static_inputs`',
    default: false,
    example: true,
  });

/** Selects the results that the answer shows. */
export class BatchResultsQuery {
  @QueryInteger({ description: 'Maximum number of results', min: 0, max: 10_000, default: 1_000, example: 100 })
  results_limit!: number;

  @QueryInteger({ description: 'Number of results to skip', min: 0, default: 0, example: 0 })
  results_offset!: number;

  @QueryChoice({ description: 'Keeps only results with this status', choices: STATUSES, example: 'failed' })
  results_status?: (typeof STATUSES)[number];

  @ResultsInputs()
  results_inputs!: boolean;
}

const FORMATS = ['ndjson', 'csv'] as const;

/** Selects the form of all results. */
export class BatchStreamQuery {
  @QueryChoice({
    description: 'The form of the results; without it, the header `Accept` decides. Links use it',
    choices: FORMATS,
    example: 'csv',
  })
  format?: (typeof FORMATS)[number];

  @ResultsInputs()
  results_inputs!: boolean;
}

/** The result of one item. */
export class BatchItemBody extends RunBody {
  @ApiProperty({ type: 'integer', description: 'Index of the item in the input, from 0' })
  index!: number;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    selfRequired: false,
    description:
      'The inputs of the item, without `static_inputs`; only with `results_inputs=true`. An item that repeats another ' +
      'one shows the inputs of that one',
    example: { text: 'My card has not arrived yet' },
  })
  inputs?: JsonObject;
}

/** A batch without its results. */
export class BatchProgressBody {
  @ApiProperty()
  batch_id!: string;

  @ApiProperty({
    enum: RUN_STATUSES,
    description: '`completed` means that every item has ended; `failed` means that every item failed',
  })
  status!: (typeof RUN_STATUSES)[number];

  @ApiProperty({ type: 'integer' })
  total_items!: number;

  @ApiProperty({ type: 'integer', description: 'Number of items that completed or failed' })
  completed_items!: number;

  @ApiProperty({ type: 'integer' })
  failed_items!: number;

  @ApiProperty({ description: 'Progress from 0 to 100' })
  progress_percentage!: number;

  @ApiProperty({ type: String, format: 'date-time', required: false })
  started_at?: string;

  @ApiProperty({ type: String, format: 'date-time', required: false })
  completed_at?: string;

  @ApiProperty({ type: String, required: false })
  error?: string;

  @ApiProperty({
    type: [String],
    required: false,
    description: 'The agent that the rows wait for, because no process has it; otherwise absent',
  })
  waiting_for_agents?: string[];

  @ApiProperty({
    type: UsageBody,
    required: false,
    description: 'Model usage of the ended runs; absent if they used no model',
  })
  usage?: UsageBody;
}

export class BatchBody extends BatchProgressBody {
  @ApiProperty({
    type: [BatchItemBody],
    description: 'A result for each item that completed or failed, in the order of the input',
  })
  results!: BatchItemBody[];
}

export const STARTING_EXAMPLE: BatchBody = {
  batch_id: '019a7f5e-0a11-7c00-9d3e-8b7a6c5d4e3f',
  status: 'starting',
  total_items: 2,
  completed_items: 0,
  failed_items: 0,
  progress_percentage: 0,
  results: [],
};

export const PROGRESS_EXAMPLE: BatchProgressBody = {
  batch_id: STARTING_EXAMPLE.batch_id,
  status: 'running',
  total_items: 2,
  completed_items: 1,
  failed_items: 0,
  progress_percentage: 50,
  started_at: RUN_BODY_EXAMPLE.started_at!,
};

export const BATCH_EXAMPLE: BatchBody = { ...PROGRESS_EXAMPLE, results: [{ index: 0, ...RUN_BODY_EXAMPLE }] };
