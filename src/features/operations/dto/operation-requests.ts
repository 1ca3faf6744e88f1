import { SchemaPart } from '../../../http/openapi/additions.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { BodyTimestamp } from '../../../http/validation/body-timestamp.js';
import { IsBoolean } from '../../../http/validation/class-validator.js';
import { IfGiven } from '../../../http/validation/field-rules.js';
import { IsShortText, SHORT_TEXT_SCHEMA } from '../../../http/validation/text-rules.js';

const GROUP = '5f0c2d5e8b7a41f6a3c9d2e4b6f80911';

const DRY_RUN = 'Only counts what matches, and changes nothing';

/** At least one of these fields is required. */
const anyOf = (names: readonly string[]) => ({ anyOf: names.map((name) => ({ required: [name] })) });

@SchemaPart(anyOf(['group', 'agent', 'error_type', 'correlation_id', 'from', 'to']))
export class RetryAllRequest {
  @ApiProperty({
    required: false,
    description: 'Only failures of this `group` of GET /api/v1/executions/failures',
    ...SHORT_TEXT_SCHEMA,
    example: GROUP,
  })
  @IfGiven()
  @IsShortText()
  group?: string;

  @ApiProperty({
    required: false,
    description: 'Only executions of this agent',
    ...SHORT_TEXT_SCHEMA,
    example: 'price',
  })
  @IfGiven()
  @IsShortText()
  agent?: string;

  @ApiProperty({ required: false, description: 'Only failures of this type', ...SHORT_TEXT_SCHEMA, example: 'timeout' })
  @IfGiven()
  @IsShortText()
  error_type?: string;

  @ApiProperty({
    required: false,
    description: 'Only executions of this correlation',
    ...SHORT_TEXT_SCHEMA,
    example: 'order-4711',
  })
  @IfGiven()
  @IsShortText()
  correlation_id?: string;

  @BodyTimestamp({
    description: 'Failed at this time or later: ISO 8601, UTC if no time zone is given',
    example: '2026-11-20T00:00:00Z',
  })
  from?: string;

  @BodyTimestamp({
    description: 'Failed at this time or earlier: ISO 8601, UTC if no time zone is given',
    example: '2026-11-21T00:00:00Z',
  })
  to?: string;

  @ApiProperty({ required: false, description: DRY_RUN, default: false, example: false })
  @IfGiven()
  @IsBoolean()
  dry_run?: boolean;
}

@SchemaPart(anyOf(['agent', 'correlation_id', 'from', 'to']))
export class FailAllRequest {
  @ApiProperty({
    required: false,
    description: 'Only executions of this agent; as the only filter, an agent that no process has',
    ...SHORT_TEXT_SCHEMA,
    example: 'price',
  })
  @IfGiven()
  @IsShortText()
  agent?: string;

  @ApiProperty({
    required: false,
    description: 'Only executions of this correlation',
    ...SHORT_TEXT_SCHEMA,
    example: 'order-4711',
  })
  @IfGiven()
  @IsShortText()
  correlation_id?: string;

  @BodyTimestamp({
    description: 'Created at this time or later: ISO 8601, UTC if no time zone is given',
    example: '2026-11-20T00:00:00Z',
  })
  from?: string;

  @BodyTimestamp({
    description: 'Created at this time or earlier: ISO 8601, UTC if no time zone is given',
    example: '2026-11-21T00:00:00Z',
  })
  to?: string;

  @ApiProperty({ required: false, description: DRY_RUN, default: false, example: false })
  @IfGiven()
  @IsBoolean()
  dry_run?: boolean;
}

export const RETRY_EXAMPLES = {
  group: { value: { group: GROUP } satisfies RetryAllRequest },
  count: { value: { agent: 'price', error_type: 'timeout', dry_run: true } satisfies RetryAllRequest },
};

export const FAIL_EXAMPLES = { agent: { value: { agent: 'price' } satisfies FailAllRequest } };
