import { Controller, Get, Query } from '@nestjs/common';

import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiOkResponse, ApiOperation, ApiTags } from '../../http/openapi/documentation.js';
import { ActivityService } from './activity.service.js';
import { ACTIVITY_EXAMPLE, ActivityBody } from './dto/activity-body.js';
import { ActivityQuery } from './dto/activity-query.js';

@ApiTags('Agents')
@Controller('api/v1/activity')
export class ActivityController {
  constructor(private readonly activity: ActivityService) {}

  @Get()
  @ApiOperation({
    summary: 'Count what agents do, step by step',
    description:
      'Counts the starts, ends, failures and retries of executions, with quantiles of their durations and of their ' +
      'time in the queue, for each agent and for all together.',
  })
  @ApiOkResponse({ type: ActivityBody, description: 'Counts for each step', example: ACTIVITY_EXAMPLE })
  @ApiErrors(
    [400, 'step: must be at least 1h in a window of 7d'],
    [404, 'Agent not found: classifer; did you mean classifier?'],
  )
  read(@Query() query: ActivityQuery): Promise<ActivityBody> {
    return this.activity.read(query);
  }
}
