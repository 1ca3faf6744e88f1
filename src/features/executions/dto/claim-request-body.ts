import { MAX_SHORT_TEXT } from '../../../common/short-text.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsInt,
  IsNumber,
  IsString,
  Max,
  MaxLength,
  Min,
} from '../../../http/validation/class-validator.js';
import { IfGiven } from '../../../http/validation/field-rules.js';
import { IsShortText, SHORT_TEXT_SCHEMA } from '../../../http/validation/text-rules.js';

const MOST_AGENTS = 100;
const MOST_EXECUTIONS = 100;
const LONGEST_WAIT_SECONDS = 60;

/** Body of a claim of one execution. */
export class ClaimOneRequest {
  @ApiProperty({
    description: 'Name of the worker or person that claims, shown with the execution',
    ...SHORT_TEXT_SCHEMA,
    required: false,
    example: 'anna',
  })
  @IfGiven()
  @IsShortText()
  claimed_by?: string;
}

/** Body of a claim. */
export class ClaimRequestBody extends ClaimOneRequest {
  @ApiProperty({
    description: 'Names of external agents, by priority: executions of the first agent are claimed first',
    type: 'array',
    items: { type: 'string', maxLength: MAX_SHORT_TEXT },
    minItems: 1,
    maxItems: MOST_AGENTS,
    example: ['approver'],
  })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_AGENTS)
  @IsString({ each: true })
  @MaxLength(MAX_SHORT_TEXT, { each: true })
  agents!: string[];

  @ApiProperty({
    description: 'Maximum number of executions',
    type: 'integer',
    required: false,
    minimum: 1,
    maximum: MOST_EXECUTIONS,
    default: 1,
    example: 1,
  })
  @IfGiven()
  @IsInt()
  @Min(1)
  @Max(MOST_EXECUTIONS)
  max?: number;

  @ApiProperty({
    description: 'Maximum wait in seconds while no execution is available',
    required: false,
    minimum: 0,
    maximum: LONGEST_WAIT_SECONDS,
    default: 0,
    example: 0,
  })
  @IfGiven()
  @IsNumber()
  @Min(0)
  @Max(LONGEST_WAIT_SECONDS)
  wait?: number;

  @ApiProperty({
    description:
      'Claims only executions with this assignee. Without it, only executions without an assignee are claimed',
    ...SHORT_TEXT_SCHEMA,
    required: false,
    example: 'anna',
  })
  @IfGiven()
  @IsShortText()
  assignee?: string;
}

export const CLAIM_EXAMPLE = { agents: ['approver'], assignee: 'anna', max: 1, claimed_by: 'anna' };
