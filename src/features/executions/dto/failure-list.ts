import { MAX_GROUP_MESSAGE } from '../../../common/failure-group.js';
import { toCursor } from '../../../common/page-cursor.js';
import { NextPageBody } from '../../../http/dto/page.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { QueryInteger, QueryText, QueryTimestamp } from '../../../http/validation/query.js';
import { FAILURE_GROUP, LISTED_EXECUTION_EXAMPLE } from './execution-body.js';

export class FailureListQuery {
  @QueryText({ description: 'Keeps only failures of this agent', example: 'classifier' })
  agent?: string;

  @QueryText({ description: 'Keeps only failures of this type', example: 'Error' })
  error_type?: string;

  @QueryTimestamp({
    description: 'Keeps only groups that last failed at this time or later: ISO 8601, UTC if no time zone is given',
    example: '2026-11-20T00:00:00Z',
  })
  from?: number;

  @QueryTimestamp({
    description: 'Keeps only groups that last failed at this time or earlier: ISO 8601, UTC if no time zone is given',
    example: '2026-11-21T00:00:00Z',
  })
  to?: number;

  @QueryInteger({ description: 'Maximum number of groups on the page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;

  @QueryText({
    description: 'The page begins after this group; send `next` of the previous page',
    example: toCursor([1_763_632_800_120, FAILURE_GROUP]),
  })
  after?: string;
}

/** Failed executions with the same agent, error type and normalised message. */
export class FailureGroupBody {
  @ApiProperty({ description: 'Id of the group: the same for the same failures in every database' })
  group!: string;

  @ApiProperty()
  agent!: string;

  @ApiProperty()
  error_type!: string;

  @ApiProperty({
    maxLength: MAX_GROUP_MESSAGE,
    description: 'The error message, with placeholders for quoted values, ids and numbers',
  })
  message!: string;

  @ApiProperty({ type: 'integer', description: 'How many executions of the group are failed now' })
  count!: number;

  @ApiProperty({
    format: 'date-time',
    description: 'When an execution of the group first failed, even if it was retried or deleted since',
  })
  first_at!: string;

  @ApiProperty({
    format: 'date-time',
    description: 'When an execution of the group last failed, even if it was retried or deleted since',
  })
  last_at!: string;

  @ApiProperty({ format: 'uuid', description: 'The newest of its failed executions' })
  example!: string;
}

export class FailureListBody {
  @ApiProperty({ type: [FailureGroupBody] })
  items!: FailureGroupBody[];

  @ApiProperty()
  pagination!: NextPageBody;
}

export const FAILURE_LIST_EXAMPLE: FailureListBody = {
  items: [
    {
      group: FAILURE_GROUP,
      agent: 'classifier',
      error_type: 'Error',
      message: 'the model could not be read',
      count: 12,
      first_at: '2026-11-20T09:12:00.000Z',
      last_at: '2026-11-20T10:00:00.120Z',
      example: LISTED_EXECUTION_EXAMPLE.id,
    },
  ],
  pagination: { limit: 50, after: null, next: null, has_more: false },
};
