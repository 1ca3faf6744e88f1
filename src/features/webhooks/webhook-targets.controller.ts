import { Controller, Get, Query } from '@nestjs/common';

import { WRONG_CURSOR } from '../../http/dto/page.js';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiOkResponse, ApiOperation, ApiTags } from '../../http/openapi/documentation.js';
import { TARGET_LIST_EXAMPLE, TargetListBody, TargetListQuery } from './dto/target-list.js';
import { TargetsService } from './targets.service.js';

@ApiTags('Webhooks')
@Controller('api/v1/webhooks/targets')
export class WebhookTargetsController {
  constructor(private readonly targets: TargetsService) {}

  @Get()
  @ApiOperation({
    summary: 'List targets of webhooks',
    description:
      'Lists targets, newest first, with the deliveries that have not ended and those that are dead. A target without ' +
      'deliveries and correlations is deleted.',
  })
  @ApiOkResponse({ type: TargetListBody, description: 'One page', example: TARGET_LIST_EXAMPLE })
  @ApiErrors([400, WRONG_CURSOR])
  list(@Query() query: TargetListQuery): Promise<TargetListBody> {
    return this.targets.list(query);
  }
}
