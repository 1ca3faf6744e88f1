import type { JsonObject } from '../../../common/json.js';
import type { ReplayMode } from '../../../database/schema.js';
import { REPLAY_MODES } from '../../../http/dto/replay-modes.js';
import { namedSchema } from '../../../http/openapi/additions.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  Max,
  Min,
} from '../../../http/validation/class-validator.js';
import { IfGiven, Opaque } from '../../../http/validation/field-rules.js';
import { IsShortText, SHORT_TEXT_SCHEMA } from '../../../http/validation/text-rules.js';
import {
  DATA_SCHEMA,
  EXPECTED_SCHEMA,
  MOST_SCORERS,
  SCORER_SCHEMA,
  VARIANT_SCHEMA,
  VARIANTS,
} from './definition-schemas.js';

export const DEFAULT_MODE: ReplayMode = 'recorded';
export const DEFAULT_WORKERS = 5;
const MOST_WORKERS = 100;
const LARGEST_SEED = 2 ** 31 - 1;
const MOST_TOKENS = 1_000_000_000_000;
const MOST_COST = 1_000_000_000;
const LEAST_COST = 0.000001;

const DATA = namedSchema('ExperimentData', DATA_SCHEMA);
const EXPECTED = namedSchema('ExperimentExpected', EXPECTED_SCHEMA);
const VARIANT = namedSchema('ExperimentVariant', VARIANT_SCHEMA);
const SCORER = namedSchema('ExperimentScorer', SCORER_SCHEMA);

/** Body of a new experiment. */
export class ExperimentRequest {
  @ApiProperty({ ...SHORT_TEXT_SCHEMA, required: false, description: 'For people', example: 'alpha of the classifier' })
  @IfGiven()
  @IsShortText()
  name?: string;

  @ApiProperty({ allOf: [DATA], example: { batch: '019a7f5e-0a11-7c00-9d3e-8b7a6c5d4e3f' } })
  @IsObject()
  @Opaque()
  data!: JsonObject;

  @ApiProperty({ allOf: [EXPECTED], required: false, example: { recorded: true } })
  @IfGiven()
  @IsObject()
  @Opaque()
  expected?: JsonObject;

  @ApiProperty({
    ...SHORT_TEXT_SCHEMA,
    description: 'The type of the artifact that is scored: the last one of it that agents publish for a row',
    example: 'Intent',
  })
  @IsShortText()
  output!: string;

  @ApiProperty({
    enum: REPLAY_MODES,
    required: false,
    default: DEFAULT_MODE,
    description:
      'The mode of replays. `recorded` takes the answers of agents that have not changed from the record, where rows are ' +
      'replayed, and sends no webhooks. `shadow` also asks models again, but calls nothing else outside',
    example: 'recorded',
  })
  @IfGiven()
  @IsIn(REPLAY_MODES, { message: `must be one of ${REPLAY_MODES.join(', ')}` })
  mode?: ReplayMode;

  @ApiProperty({
    type: 'array',
    items: VARIANT,
    minItems: VARIANTS.min,
    maxItems: VARIANTS.most,
    description: 'The first one is the baseline that the others are compared with',
    example: [{ name: 'now' }, { name: 'colder', overrides: { classifier: { temperature: 0 } } }],
  })
  @IsArray()
  @ArrayMinSize(VARIANTS.min)
  @ArrayMaxSize(VARIANTS.most)
  @Opaque()
  variants!: JsonObject[];

  @ApiProperty({
    type: 'array',
    items: SCORER,
    minItems: 1,
    maxItems: MOST_SCORERS,
    example: [{ name: 'same', kind: 'equals', path: '/intent' }],
  })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_SCORERS)
  @Opaque()
  scorers!: JsonObject[];

  @ApiProperty({
    type: 'integer',
    required: false,
    minimum: 1,
    maximum: MOST_WORKERS,
    default: DEFAULT_WORKERS,
    description: 'Maximum number of trials that run at the same time. A trial is one variant on one row',
    example: 5,
  })
  @IfGiven()
  @IsInt()
  @Min(1)
  @Max(MOST_WORKERS)
  max_workers?: number;

  @ApiProperty({
    required: false,
    minimum: LEAST_COST,
    maximum: MOST_COST,
    description:
      'No further trial starts when the ended ones have cost this, in the currency of the configured prices. Those that run continue',
    example: 2.5,
  })
  @IfGiven()
  @IsNumber()
  @Min(LEAST_COST)
  @Max(MOST_COST)
  max_cost?: number;

  @ApiProperty({
    type: 'integer',
    required: false,
    minimum: 1,
    maximum: MOST_TOKENS,
    description: 'The same for tokens, input and output together',
    example: 1_000_000,
  })
  @IfGiven()
  @IsInt()
  @Min(1)
  @Max(MOST_TOKENS)
  max_tokens?: number;

  @ApiProperty({
    type: 'integer',
    required: false,
    minimum: 0,
    maximum: LARGEST_SEED,
    default: 1,
    description: 'The random numbers of intervals and tests depend on it alone',
    example: 1,
  })
  @IfGiven()
  @IsInt()
  @Min(0)
  @Max(LARGEST_SEED)
  seed?: number;
}

/** Without overrides, because each server has other agents. */
export const EXPERIMENT_REQUEST_EXAMPLES = {
  correlations: {
    value: {
      name: 'is it stable?',
      data: { correlations: ['order-4711'] },
      expected: { recorded: true },
      output: 'Intent',
      mode: 'full',
      variants: [{ name: 'now' }, { name: 'again' }],
      scorers: [
        { name: 'same', kind: 'equals' },
        { name: 'latency', kind: 'latency' },
      ],
    },
  },
};
