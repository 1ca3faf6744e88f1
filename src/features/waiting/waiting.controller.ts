import { Controller, Get, Param, Query } from '@nestjs/common';

import { WRONG_CURSOR } from '../../http/dto/page.js';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '../../http/openapi/documentation.js';
import { CORRELATION_WAITING_EXAMPLE, CorrelationWaitingBody } from './dto/correlation-waiting-body.js';
import {
  GROUP_EXAMPLE,
  GROUPS_EXAMPLE,
  WAITING_GROUP_EXAMPLE,
  WaitingGroupBody,
  WaitingGroupsBody,
} from './dto/waiting-group-body.js';
import { WaitingGroupsQuery, WaitingQuery } from './dto/waiting-query.js';
import { WaitingService } from './waiting.service.js';

@ApiTags('Correlations')
@Controller('api/v1/correlations')
export class CorrelationWaitingController {
  constructor(private readonly waiting: WaitingService) {}

  @Get(':correlation_id/waiting')
  @ApiOperation({
    summary: 'Get what a correlation waits for',
    description:
      'Lists its executions that have not ended, the joins and batch windows that have artifacts of it, hidden ' +
      'artifacts, and its deadline, each with its reason to wait. A correlation that has ended can only wait for joins and batch windows without a time limit.',
  })
  @ApiParam({
    name: 'correlation_id',
    description: "The correlation's id",
    schema: { type: 'string', example: 'order-4711' },
  })
  @ApiOkResponse({
    type: CorrelationWaitingBody,
    description: 'Counts, and one page',
    example: CORRELATION_WAITING_EXAMPLE,
  })
  @ApiErrors([400, WRONG_CURSOR], [404, 'Correlation not found: order-4711'])
  ofCorrelation(@Param('correlation_id') id: string, @Query() query: WaitingQuery): Promise<CorrelationWaitingBody> {
    return this.waiting.ofCorrelation(id, query);
  }
}

@ApiTags('Waiting')
@Controller('api/v1/waiting')
export class WaitingController {
  constructor(private readonly waiting: WaitingService) {}

  @Get()
  @ApiOperation({
    summary: 'List joins and batch windows that wait',
    description: 'Lists them by agent, subscription and key, then oldest first. An item must match all filters.',
  })
  @ApiOkResponse({ type: WaitingGroupsBody, description: 'One page', example: GROUPS_EXAMPLE })
  @ApiErrors([400, WRONG_CURSOR])
  groups(@Query() query: WaitingGroupsQuery): Promise<WaitingGroupsBody> {
    return this.waiting.groups(query);
  }

  @Get(':group_id')
  @ApiOperation({
    summary: 'Get a join or batch window that waits',
    description: 'Returns it with the artifacts that have arrived. One that has ended is a 404.',
  })
  @ApiParam({
    name: 'group_id',
    description: 'The id of a join group or a batch window',
    schema: { type: 'string', format: 'uuid', example: GROUP_EXAMPLE.group_id },
  })
  @ApiOkResponse({
    type: WaitingGroupBody,
    description: 'The group, and one page of its artifacts',
    example: WAITING_GROUP_EXAMPLE,
  })
  @ApiErrors([400, WRONG_CURSOR], [404, `Waiting group not found: ${GROUP_EXAMPLE.group_id}`])
  group(@Param('group_id') id: string, @Query() query: WaitingQuery): Promise<WaitingGroupBody> {
    return this.waiting.group(id, query);
  }
}
