import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';

import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '../../http/openapi/documentation.js';
import { TakesNoFields } from '../../http/validation/takes-no-fields.js';
import { CorrelationsService } from './correlations.service.js';
import { CORRELATION_LIST_EXAMPLE, CorrelationListBody, CorrelationListQuery } from './dto/correlation-list.js';
import { CorrelationStatusBody, STATUS_EXAMPLE } from './dto/correlation-status-body.js';
import { TRACE_EXAMPLE, TraceBody, TraceQuery } from './dto/trace-body.js';

const ApiCorrelationId = (): MethodDecorator =>
  ApiParam({
    name: 'correlation_id',
    description: "The correlation's id",
    schema: { type: 'string', example: 'order-4711' },
  });

@ApiTags('Correlations')
@Controller('api/v1/correlations')
export class CorrelationsController {
  constructor(private readonly correlations: CorrelationsService) {}

  @Get()
  @ApiOperation({
    summary: 'List correlations',
    description: 'Lists correlations, newest first by their start. A correlation must match all filters.',
  })
  @ApiOkResponse({ type: CorrelationListBody, description: 'One page', example: CORRELATION_LIST_EXAMPLE })
  @ApiErrors([400, 'state: must be one of active, completed, failed, cancelled'])
  list(@Query() query: CorrelationListQuery): Promise<CorrelationListBody> {
    return this.correlations.list(query);
  }

  @Get(':correlation_id/status')
  @ApiOperation({
    summary: 'Get the state of a correlation',
    description: 'Poll it every 2 to 5 seconds while the state is `active`. The state of an unknown id is `not_found`.',
  })
  @ApiCorrelationId()
  @ApiOkResponse({ type: CorrelationStatusBody, description: 'State and counts', example: STATUS_EXAMPLE })
  status(@Param('correlation_id') id: string): Promise<CorrelationStatusBody> {
    return this.correlations.status(id);
  }

  @Get(':correlation_id/trace')
  @ApiOperation({
    summary: 'Get the graph of a correlation',
    description:
      'Lists the artifacts without their payloads, and the executions that consumed or published them. ' +
      'Where a join or a batch window spans correlations, executions of other correlations are included.',
  })
  @ApiCorrelationId()
  @ApiOkResponse({
    type: TraceBody,
    description: 'One page of artifacts, with their executions',
    example: TRACE_EXAMPLE,
  })
  @ApiErrors([400, 'after: must be the id of an artifact (got "42")'], [404, 'Correlation not found: order-4711'], 503)
  trace(@Param('correlation_id') id: string, @Query() query: TraceQuery): Promise<TraceBody> {
    return this.correlations.trace(id, query);
  }

  @Post(':correlation_id/cancel')
  @TakesNoFields()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Cancel a correlation',
    description:
      'No execution of it starts any more, and it takes no further artifacts. Running agents get an abort signal; ' +
      'the answer does not wait for them.',
  })
  @ApiCorrelationId()
  @ApiOkResponse({
    type: CorrelationStatusBody,
    description: 'The cancelled correlation',
    example: { ...STATUS_EXAMPLE, state: 'cancelled' },
  })
  @ApiErrors(
    [404, 'Correlation not found: order-4711'],
    [409, 'Correlation order-4711 has already ended (completed) and cannot be cancelled'],
    503,
  )
  cancel(@Param('correlation_id') id: string): Promise<CorrelationStatusBody> {
    return this.correlations.cancel(id);
  }
}
