import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';

import type { TextInParts } from '../../common/text-in-parts.js';
import { WRONG_CURSOR } from '../../http/dto/page.js';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiOkResponse, ApiOperation, ApiTags } from '../../http/openapi/documentation.js';
import { TakesNoFields } from '../../http/validation/takes-no-fields.js';
import { ApiExecutionId, EXECUTION_EXAMPLE, ExecutionBody, RETRIED_EXAMPLE } from './dto/execution-body.js';
import { EXECUTION_LIST_EXAMPLE, ExecutionListBody, ExecutionListQuery } from './dto/execution-list.js';
import { FAILURE_LIST_EXAMPLE, FailureListBody, FailureListQuery } from './dto/failure-list.js';
import { ExecutionListsService } from './execution-lists.service.js';
import { ExecutionsService } from './executions.service.js';
import { FailuresService } from './failures.service.js';

const NOT_FOUND = `Execution not found: ${EXECUTION_EXAMPLE.id}`;

@ApiTags('Executions')
@Controller('api/v1/executions')
export class ExecutionsController {
  constructor(
    private readonly lists: ExecutionListsService,
    private readonly executions: ExecutionsService,
    private readonly failures: FailuresService,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'List executions',
    description: 'Lists executions, newest first. An execution must match all filters.',
  })
  @ApiOkResponse({ type: ExecutionListBody, description: 'One page', example: EXECUTION_LIST_EXAMPLE })
  @ApiErrors([400, 'state: must be one of pending, running, completed, failed, cancelled'])
  list(@Query() query: ExecutionListQuery): Promise<ExecutionListBody> {
    return this.lists.list(query);
  }

  @Get('failures')
  @ApiOperation({
    summary: 'List groups of failed executions',
    description:
      'Groups failed executions by agent, error type and message, the group that failed last first. In messages, ' +
      'quoted values, ids and numbers count as equal. `failure_group` of the list of executions finds those of a group.',
  })
  @ApiOkResponse({ type: FailureListBody, description: 'One page', example: FAILURE_LIST_EXAMPLE })
  @ApiErrors([400, WRONG_CURSOR])
  listFailures(@Query() query: FailureListQuery): Promise<FailureListBody> {
    return this.failures.list(query);
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
