import { applyDecorators, Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';

import type { HeldRequest } from '../../common/held-request.js';
import type { TextInParts } from '../../common/text-in-parts.js';
import { Held } from '../../http/bodies/held-body.js';
import { ARTIFACT_EXAMPLE, ArtifactBody } from '../../http/dto/artifact-body.js';
import { ListedArtifactsQuery } from '../../http/dto/artifact-filter-query.js';
import { ApiCorrelationHeader, CORRELATION_HEADERS } from '../../http/middleware/correlation-id.js';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '../../http/openapi/documentation.js';
import { IDEMPOTENCY_HEADERS, Idempotent } from '../idempotency/idempotency.interceptor.js';
import { Ids, type RequestIds } from '../idempotency/request-ids.js';
import { ArtifactQueriesService } from './artifact-queries.service.js';
import { ArtifactListBody, ArtifactListQuery, LIST_EXAMPLE } from './dto/artifact-list.js';
import { EXPLANATION_EXAMPLE, ExplanationBody } from './dto/explanation-body.js';
import { AcceptedBody, PUBLISH_EXAMPLE, PublishRequest } from './dto/publish-request.js';
import { SUMMARY_EXAMPLE, SummaryBody } from './dto/summary-body.js';
import { SYNC_EXAMPLE, SyncPublishBody, SyncPublishRequest } from './dto/sync-publish-request.js';
import { PublishingService } from './publishing.service.js';

const PUBLISH_HEADERS = { ...CORRELATION_HEADERS, ...IDEMPOTENCY_HEADERS };

const UNKNOWN_TYPE = 'Unknown artifact type: CustomerMesage; did you mean CustomerMessage?';

/** Documents the path parameter and the errors of a wrong or unknown id. */
const ApiArtifactId = (): MethodDecorator =>
  applyDecorators(
    ApiParam({
      name: 'artifact_id',
      description: "The artifact's id",
      schema: { type: 'string', format: 'uuid', example: ARTIFACT_EXAMPLE.id },
    }),
    ApiErrors([400, 'artifact_id: must be a UUID (got "42")'], [404, `Artifact not found: ${ARTIFACT_EXAMPLE.id}`]),
  );

@ApiTags('Artifacts')
@Controller('api/v1/artifacts')
export class ArtifactsController {
  constructor(
    private readonly publishing: PublishingService,
    private readonly queries: ArtifactQueriesService,
  ) {}

  @Post()
  @HttpCode(200)
  @Idempotent()
  @ApiCorrelationHeader()
  @ApiOperation({
    summary: 'Publish an artifact',
    description:
      'Answers when the artifact and every execution that it triggers are stored. Poll the status of the correlation ' +
      'for the results.',
  })
  @ApiBody({ type: PublishRequest, examples: { message: { value: PUBLISH_EXAMPLE } } })
  @ApiOkResponse({
    type: AcceptedBody,
    description: 'Accepted',
    example: { status: 'accepted' },
    headers: PUBLISH_HEADERS,
  })
  @ApiErrors([400, UNKNOWN_TYPE], 409, 503)
  publish(@Body() request: PublishRequest, @Ids() ids: RequestIds): Promise<AcceptedBody> {
    return this.publishing.publish(request, ids);
  }

  @Post('sync')
  @HttpCode(200)
  @Idempotent()
  @ApiCorrelationHeader()
  @ApiOperation({
    summary: 'Publish an artifact and wait for the results',
    description:
      'Waits until the correlation has no pending work, or until the timeout. A timeout is not an error: `completed` ' +
      'is then false.',
  })
  @ApiBody({ type: SyncPublishRequest, examples: { message: { value: { ...PUBLISH_EXAMPLE, timeout: 10 } } } })
  @ApiOkResponse({
    type: SyncPublishBody,
    description: 'The artifacts that agents produced',
    example: SYNC_EXAMPLE,
    headers: PUBLISH_HEADERS,
  })
  @ApiErrors([400, 'timeout: must not be greater than 300; type: must be a string'], 409, 503)
  publishAndWait(
    @Body() request: SyncPublishRequest,
    @Ids() ids: RequestIds,
    @Held() held: HeldRequest,
  ): Promise<TextInParts> {
    return this.publishing.publishAndWait(request, ids, held);
  }

  @Get()
  @ApiOperation({
    summary: 'List artifacts',
    description: 'Lists artifacts in the order of publishing. An artifact must match all filters.',
  })
  @ApiOkResponse({ type: ArtifactListBody, description: 'One page', example: LIST_EXAMPLE })
  @ApiErrors([400, 'Invalid from: yesterday; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24'])
  list(@Query() query: ArtifactListQuery): Promise<TextInParts> {
    return this.queries.list(query);
  }

  // Must come before `:artifact_id`, which would match `summary` as an id.
  @Get('summary')
  @ApiOperation({
    summary: 'Count artifacts',
    description: 'Counts by type, producer, visibility kind and tag. Takes the same filters as the list.',
  })
  @ApiOkResponse({ type: SummaryBody, description: 'Counts', example: SUMMARY_EXAMPLE })
  @ApiErrors([400, 'Invalid to: tomorrow; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24'])
  summarize(@Query() query: ListedArtifactsQuery): Promise<SummaryBody> {
    return this.queries.summarize(query);
  }

  @Get(':artifact_id')
  @ApiOperation({ summary: 'Get an artifact' })
  @ApiArtifactId()
  @ApiOkResponse({ type: ArtifactBody, description: 'The artifact', example: ARTIFACT_EXAMPLE })
  get(@Param('artifact_id') id: string): Promise<TextInParts> {
    return this.queries.get(id);
  }

  @Get(':artifact_id/explain')
  @ApiOperation({
    summary: 'Explain why agents reacted to an artifact or not',
    description:
      'Gives a verdict for every subscription. Stored facts (executions, waiting joins and windows, errors) come ' +
      'first; if nothing is stored, the verdict follows from the current configuration.',
  })
  @ApiArtifactId()
  @ApiOkResponse({ type: ExplanationBody, description: 'The artifact and its verdicts', example: EXPLANATION_EXAMPLE })
  @ApiErrors(503)
  explain(@Param('artifact_id') id: string): Promise<ExplanationBody> {
    return this.queries.explain(id);
  }
}
