import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CorrelationsService } from './correlations.service.js';
import { CorrelationStatusBody, STATUS_EXAMPLE } from './dto/correlation-status-body.js';

@ApiTags('Correlations')
@Controller('api/v1/correlations')
export class CorrelationsController {
  constructor(private readonly correlations: CorrelationsService) {}

  @Get(':correlation_id/status')
  @ApiOperation({
    summary: "A correlation's state",
    description: 'Poll it every 2 to 5 seconds while the state is `active`. An unknown id is answered with `not_found`.',
  })
  @ApiParam({ name: 'correlation_id', description: 'Its id', schema: { type: 'string', example: 'order-4711' } })
  @ApiOkResponse({ type: CorrelationStatusBody, description: 'State and counts', example: STATUS_EXAMPLE })
  status(@Param('correlation_id') id: string): Promise<CorrelationStatusBody> {
    return this.correlations.status(id);
  }
}
