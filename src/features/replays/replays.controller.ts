import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';

import { ARTIFACT_EXAMPLE } from '../../http/dto/artifact-body.js';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '../../http/openapi/documentation.js';
import { IDEMPOTENCY_HEADERS, Idempotent } from '../idempotency/idempotency.interceptor.js';
import { Ids, OutsideCorrelation, type RequestIds } from '../idempotency/request-ids.js';
import { REPLAY_EXAMPLE, ReplayBody } from './dto/replay-body.js';
import { REPLAY_REQUEST_EXAMPLE, ReplayRequest } from './dto/replay-request.js';
import { ReplaysService } from './replays.service.js';

@ApiTags('Replays')
@Controller('api/v1')
export class ReplaysController {
  constructor(private readonly replays: ReplaysService) {}

  @Post('correlations/:correlation_id/replay')
  @HttpCode(200)
  @Idempotent()
  @OutsideCorrelation()
  @ApiOperation({
    summary: 'Replay a correlation',
    description:
      'Publishes the artifacts of its clients again, in their order, in a new correlation that names its `origin`. ' +
      'The original stays as it is. Answers when everything is stored; poll the status of the new correlation.',
  })
  @ApiParam({
    name: 'correlation_id',
    description: "The original's id",
    schema: { type: 'string', example: 'order-4711' },
  })
  @ApiBody({ type: ReplayRequest, examples: { full: { value: REPLAY_REQUEST_EXAMPLE } } })
  @ApiOkResponse({ type: ReplayBody, description: 'Begun', example: REPLAY_EXAMPLE, headers: IDEMPOTENCY_HEADERS })
  @ApiErrors(
    [400, 'mode: must be one of full, recorded, shadow'],
    [404, 'Correlation not found: order-4711; retention may have deleted it'],
    [409, 'Retention has deleted 2 of the 4 artifacts of correlation order-4711, so it cannot be replayed'],
    503,
  )
  ofCorrelation(
    @Param('correlation_id') id: string,
    @Body() request: ReplayRequest,
    @Ids() ids: RequestIds,
  ): Promise<ReplayBody> {
    return this.replays.ofCorrelation(id, request, ids);
  }

  @Post('artifacts/:artifact_id/replay')
  @HttpCode(200)
  @Idempotent()
  @OutsideCorrelation()
  @ApiOperation({
    summary: 'Replay an artifact',
    description: 'Like the replay of a correlation, with this artifact of a client alone.',
  })
  @ApiParam({
    name: 'artifact_id',
    description: "The artifact's id",
    schema: { type: 'string', format: 'uuid', example: ARTIFACT_EXAMPLE.id },
  })
  @ApiBody({ type: ReplayRequest, examples: { full: { value: REPLAY_REQUEST_EXAMPLE } } })
  @ApiOkResponse({ type: ReplayBody, description: 'Begun', example: REPLAY_EXAMPLE, headers: IDEMPOTENCY_HEADERS })
  @ApiErrors(
    [400, 'artifact_id: must be a UUID (got "42")'],
    [404, `Artifact not found: ${ARTIFACT_EXAMPLE.id}; retention may have deleted it`],
    [
      409,
      `Artifact ${ARTIFACT_EXAMPLE.id} was published by classifier; replay its correlation order-4711, or an artifact of a client`,
    ],
    503,
  )
  ofArtifact(
    @Param('artifact_id') id: string,
    @Body() request: ReplayRequest,
    @Ids() ids: RequestIds,
  ): Promise<ReplayBody> {
    return this.replays.ofArtifact(id, request, ids);
  }
}
