import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';

import type { HeldRequest } from '../../common/held-request.js';
import type { TextInParts } from '../../common/text-in-parts.js';
import { Held } from '../../http/bodies/held-body.js';
import { CANCELLED_RUN_EXAMPLE, RUN_BODY_EXAMPLE, RunBody } from '../../http/dto/run-body.js';
import { ApiCorrelationHeader, CORRELATION_HEADERS } from '../../http/middleware/correlation-id.js';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '../../http/openapi/documentation.js';
import { IDEMPOTENCY_HEADERS, Idempotent } from '../idempotency/idempotency.interceptor.js';
import { Ids, type RequestIds } from '../idempotency/request-ids.js';
import { RUN_LIST_EXAMPLE, RunListBody, RunListQuery } from './dto/run-list.js';
import { RUN_REQUEST_BODY_EXAMPLE, RunRequest } from './dto/run-request.js';
import { RunsService } from './runs.service.js';

const ApiRunId = (): MethodDecorator =>
  ApiParam({
    name: 'run_id',
    description: "The run's id",
    schema: { type: 'string', example: RUN_BODY_EXAMPLE.run_id },
  });

const NOT_FOUND = `Run not found: ${RUN_BODY_EXAMPLE.run_id}`;

@ApiTags('Runs')
@Controller()
export class RunsController {
  constructor(private readonly runs: RunsService) {}

  @Post('run/flock')
  @HttpCode(200)
  @Idempotent()
  @ApiCorrelationHeader()
  @ApiOperation({
    summary: 'Run a workflow that starts with an agent',
    description:
      'Answers when the whole workflow has ended, or immediately with `async_run`. The run continues when the client ' +
      'disconnects.',
  })
  @ApiBody({ type: RunRequest, examples: { message: { value: RUN_REQUEST_BODY_EXAMPLE } } })
  @ApiOkResponse({
    type: RunBody,
    description: 'The run',
    example: RUN_BODY_EXAMPLE,
    headers: { ...CORRELATION_HEADERS, ...IDEMPOTENCY_HEADERS },
  })
  @ApiErrors(
    [400, 'inputs.text: is required'],
    [404, 'Agent not found: classifer; did you mean classifier?'],
    [409, 'Correlation order-4711 exists already; send another X-Correlation-ID, or none'],
    503,
  )
  start(@Body() request: RunRequest, @Ids() ids: RequestIds, @Held() held: HeldRequest): Promise<TextInParts> {
    return this.runs.start(request, ids, held);
  }

  @Get('run/:run_id')
  @ApiOperation({ summary: 'Get a run', description: 'Fields without a value yet are absent.' })
  @ApiRunId()
  @ApiOkResponse({ type: RunBody, description: 'The run', example: RUN_BODY_EXAMPLE })
  @ApiErrors([404, NOT_FOUND])
  get(@Param('run_id') id: string): Promise<TextInParts> {
    return this.runs.get(id);
  }

  @Post('run/:run_id/cancel')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Cancel a run',
    description:
      'No execution of it starts any more. Running agents get an abort signal; the answer does not wait for them, ' +
      'and their results are discarded.',
  })
  @ApiRunId()
  @ApiOkResponse({ type: RunBody, description: 'The cancelled run', example: CANCELLED_RUN_EXAMPLE })
  @ApiErrors(
    [404, NOT_FOUND],
    [409, `Run ${RUN_BODY_EXAMPLE.run_id} has already ended (completed) and cannot be cancelled`],
    503,
  )
  cancel(@Param('run_id') id: string): Promise<TextInParts> {
    return this.runs.cancel(id);
  }

  @Get('api/v1/runs')
  @ApiOperation({ summary: 'List runs', description: 'Lists runs, newest first, including those of batches.' })
  @ApiOkResponse({ type: RunListBody, description: 'One page', example: RUN_LIST_EXAMPLE })
  @ApiErrors([400, 'status: must be one of starting, running, completed, failed, cancelled'])
  list(@Query() query: RunListQuery): Promise<RunListBody> {
    return this.runs.list(query);
  }
}
