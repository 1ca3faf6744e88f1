import { PageBody } from '../../../http/dto/page.js';
import { ApiParam, ApiProperty } from '../../../http/openapi/documentation.js';
import { QueryInteger } from '../../../http/validation/query.js';
import { RETRY_EXAMPLES } from './operation-requests.js';

/** The filter of an operation, with the fields that its request had. */
export class OperationFilterBody {
  @ApiProperty({ required: false })
  group?: string;

  @ApiProperty({ required: false })
  agent?: string;

  @ApiProperty({ required: false })
  error_type?: string;

  @ApiProperty({ required: false })
  correlation_id?: string;

  @ApiProperty({ required: false, format: 'date-time' })
  from?: string;

  @ApiProperty({ required: false, format: 'date-time' })
  to?: string;
}

/** The answer to a dry run. */
export class MatchedBody {
  @ApiProperty({ type: 'integer', description: 'Number of executions that match', example: 1_200 })
  matched!: number;
}

/** An operation over many executions. */
export class OperationBody {
  @ApiProperty({ format: 'uuid' })
  operation_id!: string;

  @ApiProperty({ enum: ['retry', 'fail'] })
  kind!: 'retry' | 'fail';

  @ApiProperty()
  filter!: OperationFilterBody;

  @ApiProperty({
    enum: ['running', 'completed', 'cancelled'],
    description: '`completed`: nothing is left that matched at its start',
  })
  state!: 'running' | 'completed' | 'cancelled';

  @ApiProperty({
    type: 'integer',
    description: 'Number of executions that matched at its start; for a removed agent also join groups and windows',
  })
  matched!: number;

  @ApiProperty({ type: 'integer', description: 'How many of them it has retried or failed' })
  done!: number;

  @ApiProperty({ type: 'integer', description: 'How many of them could not be retried' })
  failed!: number;

  @ApiProperty({ type: String, nullable: true, description: 'Why the last of these could not be retried' })
  last_error!: string | null;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  ended_at!: string | null;
}

export class OperationListQuery {
  @QueryInteger({ description: 'Maximum number of items on the page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;

  @QueryInteger({ description: 'Number of items to skip', min: 0, max: 1_000_000, default: 0, example: 0 })
  offset!: number;
}

export class OperationListBody {
  @ApiProperty({ type: [OperationBody] })
  items!: OperationBody[];

  @ApiProperty()
  pagination!: PageBody;
}

export const OPERATION_EXAMPLE: OperationBody = {
  operation_id: '019a7f5e-1c9b-7d20-b1c5-3e4f5a6b7c81',
  kind: 'retry',
  filter: RETRY_EXAMPLES.group.value,
  state: 'running',
  matched: 1_200,
  done: 340,
  failed: 0,
  last_error: null,
  created_at: '2026-11-20T10:05:00.000Z',
  ended_at: null,
};

export const OPERATION_LIST_EXAMPLE: OperationListBody = {
  items: [OPERATION_EXAMPLE],
  pagination: { limit: 50, offset: 0, has_more: false },
};

export const ApiOperationId = (): MethodDecorator =>
  ApiParam({
    name: 'operation_id',
    description: "The operation's id",
    schema: { type: 'string', format: 'uuid', example: OPERATION_EXAMPLE.operation_id },
  });
