import { toCursor } from '../../../common/page-cursor.js';
import { NextPageBody } from '../../../http/dto/page.js';
import { UsageBody } from '../../../http/dto/usage-body.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { QueryBoolean, QueryInteger, QueryText } from '../../../http/validation/query.js';

const TRIAL_STATES = ['running', 'judging', 'ended'] as const;
const SHORTENED = 'at most 1,000 characters; what is longer ends with ...';

export class ExperimentRowsQuery {
  @QueryBoolean({
    description: 'Keeps only rows whose variants have all ended and have different outputs',
    default: false,
    example: true,
  })
  changed!: boolean;

  @QueryInteger({ description: 'Maximum number of rows on the page', min: 1, max: 100, default: 50, example: 50 })
  limit!: number;

  @QueryText({ description: 'Value of `next` of a page, to get the page after it', example: toCursor([49]) })
  after?: string;
}

export class TrialScoreBody {
  @ApiProperty({ description: 'Name of the scorer' })
  scorer!: string;

  @ApiProperty({ type: Number, nullable: true, description: 'Null if there is none' })
  score!: number | null;

  @ApiProperty({ type: String, required: false, description: 'Why there is none' })
  error?: string;

  @ApiProperty({ type: String, required: false, description: 'The words of the judge' })
  reason?: string;

  @ApiProperty({ type: String, format: 'uuid', required: false, description: "The artifact with the judge's answer" })
  artifact_id?: string;
}

/** One variant on one row. */
export class TrialBody {
  @ApiProperty({ description: 'Name of the variant' })
  variant!: string;

  @ApiProperty({ enum: TRIAL_STATES, description: '`judging`: only agents that judge it have not ended' })
  state!: (typeof TRIAL_STATES)[number];

  @ApiProperty({ format: 'uuid', description: 'Its correlation, which exists unless the row could not be tried' })
  correlation_id!: string;

  @ApiProperty({ type: String, required: false, description: `JSON of its output, ${SHORTENED}` })
  output?: string;

  @ApiProperty({ type: String, format: 'uuid', required: false, description: 'The artifact that is its output' })
  output_id?: string;

  @ApiProperty({ type: String, required: false, description: 'Why it has no output' })
  error?: string;

  @ApiProperty({ type: 'integer', required: false, description: 'Milliseconds until its correlation had ended' })
  duration_ms?: number;

  @ApiProperty({ type: UsageBody, required: false, description: 'Absent if it used no model' })
  usage?: UsageBody;

  @ApiProperty({
    type: [TrialScoreBody],
    description: 'In the order of the scorers; empty until its correlation has ended',
  })
  scores!: TrialScoreBody[];
}

export class ExperimentRowBody {
  @ApiProperty({ type: 'integer', description: 'Index of the row in the data set, from 0' })
  index!: number;

  @ApiProperty({ type: String, required: false, description: 'The artifact or the correlation that is replayed' })
  origin?: string;

  @ApiProperty({ type: String, required: false, description: `JSON of the input, ${SHORTENED}` })
  input?: string;

  @ApiProperty({ type: String, required: false, description: `JSON of the expected value, ${SHORTENED}` })
  expected?: string;

  @ApiProperty({ description: 'Whether all variants have ended and have different outputs' })
  changed!: boolean;

  @ApiProperty({ type: [TrialBody], description: 'The variants that have begun, in their order' })
  trials!: TrialBody[];
}

export class ExperimentRowsBody {
  @ApiProperty({ type: [ExperimentRowBody], description: 'Rows that have begun' })
  items!: ExperimentRowBody[];

  @ApiProperty()
  pagination!: NextPageBody;
}

export const EXPERIMENT_ROWS_EXAMPLE: ExperimentRowsBody = {
  items: [
    {
      index: 0,
      origin: '019a7f5e-1c9b-7d20-b1c5-3e4f5a6b7c90',
      input: '{"text":"Is it open?"}',
      expected: '{"answer":"yes"}',
      changed: true,
      trials: [
        {
          variant: 'now',
          state: 'ended',
          correlation_id: '019a7f72-7a00-7d10-8e01-1a2b3c4d5e6f',
          output: '{"answer":"yes"}',
          output_id: '019a7f72-7a3c-7b22-9f12-2b3c4d5e6f70',
          duration_ms: 12,
          scores: [{ scorer: 'same', score: 1 }],
        },
        {
          variant: 'short',
          state: 'ended',
          correlation_id: '019a7f72-7a01-7e21-8f02-3c4d5e6f7081',
          output: '{"answer":"no"}',
          output_id: '019a7f72-7d51-7c33-a023-4d5e6f708192',
          duration_ms: 843,
          usage: { input_tokens: 212, output_tokens: 9, cost: 0.000061 },
          scores: [{ scorer: 'same', score: 0 }],
        },
      ],
    },
  ],
  pagination: { limit: 50, after: null, next: null, has_more: false },
};
