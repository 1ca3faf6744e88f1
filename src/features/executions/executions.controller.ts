import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';

import type { TextInParts } from '../../common/text-in-parts.js';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import { TakesNoFields } from '../../http/validation/takes-no-fields.js';
import { END_EXAMPLE, ENDED_EXAMPLE, EndedBody, EndRequest } from './dto/ended-body.js';
import { ApiExecutionId, EXECUTION_EXAMPLE, ExecutionBody, RETRIED_EXAMPLE } from './dto/execution-body.js';
import { EXECUTION_LIST_EXAMPLE, ExecutionListBody, ExecutionListQuery } from './dto/execution-list.js';
import { ExecutionsService } from './executions.service.js';

const NOT_FOUND = `Execution not found: ${EXECUTION_EXAMPLE.id}`;

@ApiTags('Executions')
@Controller('api/v1/executions')
export class ExecutionsController {
  constructor(private readonly executions: ExecutionsService) {}

  @Get()
  @ApiOperation({
    summary: 'List executions',
    description: 'Lists executions, newest first. An execution must match all filters.',
  })
  @ApiOkResponse({ type: ExecutionListBody, description: 'One page', example: EXECUTION_LIST_EXAMPLE })
  @ApiErrors([400, 'state: must be one of pending, running, completed, failed, cancelled'])
  list(@Query() query: ExecutionListQuery): Promise<ExecutionListBody> {
    return this.executions.list(query);
  }

  @Post('fail')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Fail the waiting work of an agent that no process has',
    description:
      'Waiting executions of the agent fail with the error type `agent_removed`. Join groups and batch windows of ' +
      'its subscriptions that no process has are dropped with the same error. Repeating the request ends what is ' +
      'left.',
  })
  @ApiBody({ type: EndRequest, examples: { end: { value: END_EXAMPLE } } })
  @ApiOkResponse({
    type: EndedBody,
    description: 'The number of executions and groups that were ended',
    example: ENDED_EXAMPLE,
  })
  @ApiErrors(
    [400, 'agent: must be a string'],
    [404, 'Agent not found: prize'],
    [409, 'A live process has the agent price and runs its executions; GET /api/v1/processes shows which'],
    503,
  )
  fail(@Body() { agent }: EndRequest): Promise<EndedBody> {
    return this.executions.failWithoutAgent(agent);
  }

  @Get(':execution_id')
  @ApiOperation({
    summary: 'Get an execution',
    description: 'Returns the execution with its inputs, outputs, errors and attempts.',
  })
  @ApiExecutionId()
  @ApiOkResponse({ type: ExecutionBody, description: 'The execution', example: EXECUTION_EXAMPLE })
  @ApiErrors([404, NOT_FOUND])
  get(@Param('execution_id') id: string): Promise<TextInParts> {
    return this.executions.get(id);
  }

  @Post(':execution_id/retry')
  @TakesNoFields()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Retry a failed execution',
    description:
      'The execution runs again on the same inputs, with all the attempts of its agent. A settled correlation opens ' +
      'again as its next generation. The WorkflowError of the failure stays on the blackboard.',
  })
  @ApiExecutionId()
  @ApiOkResponse({ type: ExecutionBody, description: 'The execution, now pending', example: RETRIED_EXAMPLE })
  @ApiErrors(
    [404, NOT_FOUND],
    [409, `Execution ${EXECUTION_EXAMPLE.id} is completed; only a failed execution can be retried`],
    503,
  )
  retry(@Param('execution_id') id: string): Promise<TextInParts> {
    return this.executions.retry(id);
  }
}
