import { Controller, Get, Query } from '@nestjs/common';

import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiOkResponse, ApiOperation, ApiTags } from '../../http/openapi/documentation.js';
import { CompareService } from './compare.service.js';
import { CompareQuery } from './dto/compare-query.js';
import { COMPARISON_EXAMPLE, ComparisonBody } from './dto/comparison-body.js';

@ApiTags('Correlations')
@Controller('api/v1/compare')
export class CompareController {
  constructor(private readonly comparison: CompareService) {}

  @Get()
  @ApiOperation({
    summary: 'Compare two correlations',
    description:
      'Pairs the artifacts of two correlations by type, producer and place in the cascade, and says what differs in ' +
      'their payloads, what only one of them has, and how long the executions took and what they used.',
  })
  @ApiOkResponse({ type: ComparisonBody, description: 'One page of pairs', example: COMPARISON_EXAMPLE })
  @ApiErrors([400, 'right: is required'], [404, 'Correlation not found: order-4711'], 503)
  compare(@Query() query: CompareQuery): Promise<ComparisonBody> {
    return this.comparison.compare(query);
  }
}
