import {
  Body,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  HttpCode,
  Param,
  Post,
  Query,
  Req,
  UseInterceptors,
} from '@nestjs/common';
import type { Request } from 'express';

import type { TextInParts } from '../../common/text-in-parts.js';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import {
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
  schemaPath,
} from '../../http/openapi/documentation.js';
import { IDEMPOTENCY_HEADERS, Idempotent } from '../idempotency/idempotency.interceptor.js';
import { Ids, OutsideCorrelation, type RequestIds } from '../idempotency/request-ids.js';
import { BatchControlService } from './batch-control.service.js';
import { BatchCreationService } from './batch-creation.service.js';
import { BatchQueriesService } from './batch-queries.service.js';
import {
  BATCH_EXAMPLE,
  BatchBody,
  BatchItemBody,
  BatchResultsQuery,
  BatchStreamQuery,
  STARTING_EXAMPLE,
} from './dto/batch-body.js';
import { BATCH_FAILURES_EXAMPLE, BatchFailuresBody } from './dto/batch-failures-body.js';
import { BATCH_LIST_EXAMPLE, BatchListBody, BatchListQuery } from './dto/batch-list.js';
import { ApiBatch, BatchRequest } from './dto/batch-request.js';
import { BatchBodyInterceptor, type BatchSource, batchSource } from './import/batch-body.interceptor.js';
import type { ResultsFormat } from './results-text.js';

const Source = createParamDecorator((_data: unknown, context: ExecutionContext): BatchSource | undefined =>
  batchSource(context.switchToHttp().getRequest<Request>()),
);

const ApiBatchId = (): MethodDecorator =>
  ApiParam({
    name: 'batch_id',
    description: "The batch's id",
    schema: { type: 'string', example: BATCH_EXAMPLE.batch_id },
  });

const acceptedFormat = (request: Request): ResultsFormat =>
  request.accepts(['application/x-ndjson', 'text/csv']) === 'text/csv' ? 'csv' : 'ndjson';

const NOT_FOUND = `Batch not found: ${BATCH_EXAMPLE.batch_id}`;

@ApiTags('Batches')
@ApiExtraModels(BatchItemBody)
@Controller()
export class BatchesController {
  constructor(
    private readonly creation: BatchCreationService,
    private readonly queries: BatchQueriesService,
    private readonly control: BatchControlService,
  ) {}

  // Interceptors run from the last decorator to the first. The body must be read before the idempotency key compares
  // requests.
  @Post('run/batch')
  @HttpCode(200)
  @Idempotent()
  @OutsideCorrelation()
  @UseInterceptors(BatchBodyInterceptor)
  @ApiOperation({
    summary: 'Run an agent over many inputs',
    description:
      'The inputs are a list, a CSV file on the server, or an uploaded CSV file. Answers when all rows are checked ' +
      'and stored. Rows become runs as slots become free.',
  })
  @ApiBatch()
  @ApiOkResponse({ type: BatchBody, description: 'The batch', example: STARTING_EXAMPLE, headers: IDEMPOTENCY_HEADERS })
  @ApiErrors(
    [400, 'batch_inputs: line 50000 has 3 fields and the header 4'],
    [404, 'Agent not found: classifer; did you mean classifier?'],
    503,
  )
  create(
    @Body() request: BatchRequest,
    @Ids() { madeId: id }: RequestIds,
    @Source() source: BatchSource | undefined,
  ): Promise<BatchBody> {
    return this.creation.create(request, id, source);
  }

  @Get('batch/:batch_id')
  @ApiOperation({
    summary: 'Get a batch',
    description: 'Returns the progress, and the results of the items in the order of the input.',
  })
  @ApiBatchId()
  @ApiOkResponse({ type: BatchBody, description: 'The batch', example: BATCH_EXAMPLE })
  @ApiErrors([400, 'results_limit: must be a whole number from 0 to 10000'], [404, NOT_FOUND])
  get(@Param('batch_id') id: string, @Query() query: BatchResultsQuery): Promise<TextInParts> {
    return this.queries.show(id, query);
  }

  @Get('batch/:batch_id/results')
  @ApiOperation({
    summary: 'Stream the results of a batch',
    description: 'Sends one JSON document per line, or CSV with `Accept: text/csv` or `format=csv`.',
  })
  @ApiBatchId()
  @ApiOkResponse({
    description: 'All results, in the order of the input',
    content: {
      'application/x-ndjson': { schema: { $ref: schemaPath(BatchItemBody) }, example: BATCH_EXAMPLE.results[0] },
      'text/csv': {
        schema: { type: 'string' },
        example: 'index,run_id,status,result,error,started_at,completed_at\r\n',
      },
    },
  })
  @ApiErrors([400, 'format: must be one of ndjson, csv'], [404, NOT_FOUND])
  results(
    @Param('batch_id') id: string,
    @Query() query: BatchStreamQuery,
    @Req() request: Request,
  ): Promise<TextInParts> {
    return this.queries.stream(id, query.format ?? acceptedFormat(request), query.results_inputs);
  }

  @Get('batch/:batch_id/failures')
  @ApiOperation({
    summary: 'Group the failed items of a batch',
    description:
      'Groups the items that failed by their error message, in which quoted values, ids and numbers are replaced. The ' +
      'largest group comes first.',
  })
  @ApiBatchId()
  @ApiOkResponse({ type: BatchFailuresBody, description: 'The groups', example: BATCH_FAILURES_EXAMPLE })
  @ApiErrors([404, NOT_FOUND])
  failures(@Param('batch_id') id: string): Promise<BatchFailuresBody> {
    return this.queries.failures(id);
  }

  @Post('batch/:batch_id/cancel')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Cancel a batch',
    description: 'Cancels the runs of the batch. Its waiting rows never start.',
  })
  @ApiBatchId()
  @ApiOkResponse({
    type: BatchBody,
    description: 'The cancelled batch',
    example: { ...BATCH_EXAMPLE, status: 'cancelled', results: [] },
  })
  @ApiErrors(
    [404, NOT_FOUND],
    [409, `Batch ${BATCH_EXAMPLE.batch_id} has already ended (completed) and cannot be cancelled`],
    503,
  )
  cancel(@Param('batch_id') id: string): Promise<BatchBody> {
    return this.control.cancel(id);
  }

  @Post('batch/:batch_id/retry-failed')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Run the failed items of a batch again',
    description: 'Failed items get new runs; other items keep theirs.',
  })
  @ApiBatchId()
  @ApiOkResponse({
    type: BatchBody,
    description: 'The batch, running again',
    example: { ...BATCH_EXAMPLE, status: 'running', results: [] },
  })
  @ApiErrors([404, NOT_FOUND], [409, `Batch ${BATCH_EXAMPLE.batch_id} has no failed items`], 503)
  retryFailed(@Param('batch_id') id: string): Promise<BatchBody> {
    return this.control.retryFailed(id);
  }

  @Get('api/v1/batches')
  @ApiOperation({ summary: 'List batches', description: 'Lists batches, newest first.' })
  @ApiOkResponse({ type: BatchListBody, description: 'One page', example: BATCH_LIST_EXAMPLE })
  @ApiErrors([400, 'status: must be one of starting, running, completed, failed, cancelled'])
  list(@Query() query: BatchListQuery): Promise<BatchListBody> {
    return this.queries.list(query);
  }
}
