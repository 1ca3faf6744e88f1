import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';

import { namedSchema } from '../../http/openapi/additions.js';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import {
  ApiBody,
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  schemaPath,
} from '../../http/openapi/documentation.js';
import { TakesNoFields } from '../../http/validation/takes-no-fields.js';
import { IDEMPOTENCY_HEADERS, Idempotent } from '../idempotency/idempotency.interceptor.js';
import { Ids, OutsideCorrelation, type RequestIds } from '../idempotency/request-ids.js';
import {
  ApiOperationId,
  MatchedBody,
  OPERATION_EXAMPLE,
  OPERATION_LIST_EXAMPLE,
  OperationBody,
  OperationListBody,
  OperationListQuery,
} from './dto/operation-body.js';
import { FAIL_EXAMPLES, FailAllRequest, RETRY_EXAMPLES, RetryAllRequest } from './dto/operation-requests.js';
import { OperationsService } from './operations.service.js';

const NOT_FOUND = `Operation not found: ${OPERATION_EXAMPLE.operation_id}`;

const STARTED = namedSchema('StartedBody', {
  anyOf: [{ $ref: schemaPath(OperationBody) }, { $ref: schemaPath(MatchedBody) }],
});

/** Documents the answer to a request that starts an operation or is a dry run. */
const ApiStarted = (): MethodDecorator =>
  ApiOkResponse({
    description: 'The operation; for a dry run only the number of executions that match',
    schema: STARTED,
    example: { ...OPERATION_EXAMPLE, done: 0 },
    headers: IDEMPOTENCY_HEADERS,
  });

@ApiTags('Operations')
@ApiExtraModels(OperationBody, MatchedBody)
@Controller('api/v1')
export class OperationsController {
  constructor(private readonly operations: OperationsService) {}

  @Post('executions/retry')
  @HttpCode(200)
  @Idempotent()
  @OutsideCorrelation()
  @ApiOperation({
    summary: 'Retry many failed executions',
    description:
      'Starts an operation that retries each execution that matches now, as the retry of one execution does. It runs ' +
      'in the background, survives restarts, and waits while too much work waits. An execution must match all filters; ' +
      'at least one is required.',
  })
  @ApiBody({ type: RetryAllRequest, examples: RETRY_EXAMPLES })
  @ApiStarted()
  @ApiErrors(
    [400, 'The body needs a filter: group, agent, error_type, correlation_id, from or to'],
    [409, '10 operations are running, which is the most; wait until one has ended, or cancel one'],
    503,
  )
  retry(@Body() request: RetryAllRequest, @Ids() { madeId }: RequestIds): Promise<OperationBody | MatchedBody> {
    return this.operations.retry(madeId, request);
  }

  @Post('executions/fail')
  @HttpCode(200)
  @Idempotent()
  @OutsideCorrelation()
  @ApiOperation({
    summary: 'Fail many waiting executions',
    description:
      'Starts an operation that fails executions that wait for a claim or for a retry, with the error type `given_up`. ' +
      'With `agent` alone, it fails everything that waits for an agent that no process has, with the error type ' +
      '`agent_removed`: executions, and the join groups and batch windows of its subscriptions that no process has. ' +
      'Repeating the request ends what is left.',
  })
  @ApiBody({ type: FailAllRequest, examples: FAIL_EXAMPLES })
  @ApiStarted()
  @ApiErrors(
    [400, 'The body needs a filter: agent, correlation_id, from or to'],
    [404, 'Agent not found: prize'],
    [409, 'A live process has the agent price and runs its executions; GET /api/v1/processes shows which'],
    503,
  )
  fail(@Body() request: FailAllRequest, @Ids() { madeId }: RequestIds): Promise<OperationBody | MatchedBody> {
    return this.operations.fail(madeId, request);
  }

  @Get('operations')
  @ApiOperation({
    summary: 'List operations',
    description: 'Lists operations, newest first. They are deleted 7 days after they have ended.',
  })
  @ApiOkResponse({ type: OperationListBody, description: 'One page', example: OPERATION_LIST_EXAMPLE })
  @ApiErrors([400, 'limit: must be a whole number from 1 to 500'])
  list(@Query() query: OperationListQuery): Promise<OperationListBody> {
    return this.operations.list(query);
  }

  @Get('operations/:operation_id')
  @ApiOperation({ summary: 'Get an operation', description: 'Returns the operation with its progress.' })
  @ApiOperationId()
  @ApiOkResponse({ type: OperationBody, description: 'The operation', example: OPERATION_EXAMPLE })
  @ApiErrors([404, NOT_FOUND])
  get(@Param('operation_id') id: string): Promise<OperationBody> {
    return this.operations.get(id);
  }

  @Post('operations/:operation_id/cancel')
  @TakesNoFields()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Cancel an operation',
    description: 'The operation handles nothing more. What it has retried or failed stays as it is.',
  })
  @ApiOperationId()
  @ApiOkResponse({
    type: OperationBody,
    description: 'The cancelled operation',
    example: { ...OPERATION_EXAMPLE, state: 'cancelled', ended_at: '2026-11-20T10:05:02.000Z' },
  })
  @ApiErrors(
    [404, NOT_FOUND],
    [409, `Operation ${OPERATION_EXAMPLE.operation_id} has already ended (completed) and cannot be cancelled`],
    503,
  )
  cancel(@Param('operation_id') id: string): Promise<OperationBody> {
    return this.operations.cancel(id);
  }
}
