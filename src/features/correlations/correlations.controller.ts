import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import { TakesNoFields } from '../../http/validation/takes-no-fields.js';
import { CorrelationsService } from './correlations.service.js';
import { CorrelationStatusBody, STATUS_EXAMPLE } from './dto/correlation-status-body.js';
import { TRACE_EXAMPLE, TraceBody } from './dto/trace-body.js';
import { TraceQuery } from './dto/trace-query.js';

const ApiCorrelationId = (): MethodDecorator =>
  ApiParam({ name: 'correlation_id', description: 'Its id', schema: { type: 'string', example: 'order-4711' } });

@ApiTags('Correlations')
@Controller('api/v1/correlations')
export class CorrelationsController {
  constructor(private readonly correlations: CorrelationsService) {}

  @Get(':correlation_id/status')
  @ApiOperation({
    summary: "A correlation's state",
    description: 'Poll it every 2 to 5 seconds while the state is `active`. An unknown id is answered with `not_found`.',
  })
  @ApiCorrelationId()
  @ApiOkResponse({ type: CorrelationStatusBody, description: 'State and counts', example: STATUS_EXAMPLE })
  status(@Param('correlation_id') id: string): Promise<CorrelationStatusBody> {
    return this.correlations.status(id);
  }

  @Get(':correlation_id/trace')
  @ApiOperation({
    summary: 'What happened in a correlation, as a graph',
    description:
      'Its artifacts without their payloads, and the executions that have them as inputs or published them: those of other correlations too, where a join or a batch window spans several.',
  })
  @ApiCorrelationId()
  @ApiOkResponse({ type: TraceBody, description: 'One page of artifacts, with the executions around them', example: TRACE_EXAMPLE })
  @ApiErrors([400, 'after: must be the id of an artifact (got "42")'], [404, 'Correlation not found: order-4711'], 503)
  trace(@Param('correlation_id') id: string, @Query() query: TraceQuery): Promise<TraceBody> {
    return this.correlations.trace(id, query);
  }

  @Post(':correlation_id/cancel')
  @TakesNoFields()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Cancel a correlation',
    description: 'Nothing of it starts any more, and nothing can be published into it. Agents that run are told to stop and not waited for.',
  })
  @ApiCorrelationId()
  @ApiOkResponse({ type: CorrelationStatusBody, description: 'The cancelled correlation', example: { ...STATUS_EXAMPLE, state: 'cancelled' } })
  @ApiErrors(
    [404, 'Correlation not found: order-4711'],
    [409, 'Correlation order-4711 has already ended (completed) and cannot be cancelled'],
    503,
  )
  cancel(@Param('correlation_id') id: string): Promise<CorrelationStatusBody> {
    return this.correlations.cancel(id);
  }
}
