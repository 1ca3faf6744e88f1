import { Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';

import { WRONG_CURSOR } from '../../http/dto/page.js';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '../../http/openapi/documentation.js';
import { TakesNoFields } from '../../http/validation/takes-no-fields.js';
import { ApiLimitName, LIMIT_EXAMPLE, LimitBody, LimitListBody } from './dto/limit-body.js';
import { LimitRequest } from './dto/limit-request.js';
import { LIMIT_KEYS_EXAMPLE, LimitKeysBody, LimitKeysQuery } from './dto/waiting-keys.js';
import { LimitsService } from './limits.service.js';

const NOT_FOUND = 'Limit not found: opnai; did you mean openai?';
const GONE = 'The configuration file has no limit openai; add it, or delete its values';

@ApiTags('Limits')
@Controller('api/v1/limits')
export class LimitsController {
  constructor(private readonly limits: LimitsService) {}

  @Get()
  @ApiOperation({
    summary: 'List limits',
    description:
      'Lists the limits of the configuration file, in its order, and then those that it no longer has, if they have values of a client.',
  })
  @ApiOkResponse({ type: LimitListBody, description: 'All limits', example: { items: [LIMIT_EXAMPLE] } })
  list(): Promise<LimitListBody> {
    return this.limits.list();
  }

  @Get(':limit_name')
  @ApiOperation({ summary: 'Get a limit', description: 'Returns the values of the limit and what is used of it.' })
  @ApiLimitName()
  @ApiOkResponse({ type: LimitBody, description: 'The limit', example: LIMIT_EXAMPLE })
  @ApiErrors([404, NOT_FOUND])
  get(@Param('limit_name') name: string): Promise<LimitBody> {
    return this.limits.get(name);
  }

  @Get(':limit_name/keys')
  @ApiOperation({
    summary: 'List the keys that executions wait for',
    description:
      'Lists the keys of the limit for which executions wait, in the order of their JSON texts, with the execution that ' +
      'waits longest. A limit without a key has one item, whose key is null.',
  })
  @ApiLimitName()
  @ApiOkResponse({ type: LimitKeysBody, description: 'One page', example: LIMIT_KEYS_EXAMPLE })
  @ApiErrors([400, WRONG_CURSOR], [404, NOT_FOUND])
  keys(@Param('limit_name') name: string, @Query() query: LimitKeysQuery): Promise<LimitKeysBody> {
    return this.limits.keys(name, query);
  }

  @Put(':limit_name')
  @ApiOperation({
    summary: 'Change a limit',
    description:
      'The values replace those of the configuration file in all processes, also after a restart. Without any, the limit limits nothing.',
  })
  @ApiLimitName()
  @ApiBody({ type: LimitRequest, examples: { fewer: { value: { concurrency: 20, rate: '60/m', burst: 10 } } } })
  @ApiOkResponse({ type: LimitBody, description: 'The limit', example: LIMIT_EXAMPLE })
  @ApiErrors([400, 'burst: counts for a rate only; add rate, or remove burst'], [404, NOT_FOUND], [409, GONE], 503)
  set(@Param('limit_name') name: string, @Body() request: LimitRequest): Promise<LimitBody> {
    return this.limits.set(name, request);
  }

  @Delete(':limit_name')
  @TakesNoFields()
  @ApiOperation({
    summary: 'Undo the change of a limit',
    description:
      'The values of the configuration file hold again. Does nothing if they do already. A limit that the file no longer has is deleted.',
  })
  @ApiLimitName()
  @ApiOkResponse({ type: LimitBody, description: 'The limit', example: { ...LIMIT_EXAMPLE, set_at: null } })
  @ApiErrors([404, NOT_FOUND], 503)
  reset(@Param('limit_name') name: string): Promise<LimitBody> {
    return this.limits.reset(name);
  }
}
