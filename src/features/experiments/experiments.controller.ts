import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';

import { WRONG_CURSOR } from '../../http/dto/page.js';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '../../http/openapi/documentation.js';
import { TakesNoFields } from '../../http/validation/takes-no-fields.js';
import { IDEMPOTENCY_HEADERS, Idempotent } from '../idempotency/idempotency.interceptor.js';
import { Ids, OutsideCorrelation, type RequestIds } from '../idempotency/request-ids.js';
import {
  ApiExperimentId,
  EXPERIMENT_EXAMPLE,
  EXPERIMENT_LIST_EXAMPLE,
  ExperimentBody,
  ExperimentListBody,
  ExperimentListQuery,
  SUMMARY_EXAMPLE,
} from './dto/experiment-body.js';
import { EXPERIMENT_REQUEST_EXAMPLES, ExperimentRequest } from './dto/experiment-request.js';
import { EXPERIMENT_ROWS_EXAMPLE, ExperimentRowsBody, ExperimentRowsQuery } from './dto/experiment-rows.js';
import { ExperimentControlService } from './experiment-control.service.js';
import { ExperimentCreationService } from './experiment-creation.service.js';
import { ExperimentQueriesService } from './experiment-queries.service.js';

const NOT_FOUND = `Experiment not found: ${EXPERIMENT_EXAMPLE.experiment_id}`;

@ApiTags('Experiments')
@Controller('api/v1/experiments')
export class ExperimentsController {
  constructor(
    private readonly creation: ExperimentCreationService,
    private readonly queries: ExperimentQueriesService,
    private readonly control: ExperimentControlService,
  ) {}

  @Post()
  @HttpCode(200)
  @Idempotent()
  @OutsideCorrelation()
  @ApiOperation({
    summary: 'Start an experiment',
    description:
      'Tries two to eight variants on each row of a data set, in correlations that are kept apart from live work like ' +
      'replays, and scores what comes out. Answers when the rows are stored; poll the experiment. It survives restarts.',
  })
  @ApiBody({ type: ExperimentRequest, examples: EXPERIMENT_REQUEST_EXAMPLES })
  @ApiOkResponse({
    type: ExperimentBody,
    description: 'The experiment',
    example: { ...EXPERIMENT_EXAMPLE, ended_trials: 0, progress_percentage: 0 },
    headers: IDEMPOTENCY_HEADERS,
  })
  @ApiErrors(
    [400, 'scorers[0]: equals compares with the expected value; give expected in the request'],
    [404, 'Batch not found: 019a7f5e-0a11-7c00-9d3e-8b7a6c5d4e3f'],
    [409, '10 experiments are running, which is the most; wait until one has ended, or cancel one'],
    503,
  )
  create(@Body() request: ExperimentRequest, @Ids() { madeId }: RequestIds): Promise<ExperimentBody> {
    return this.creation.create(request, madeId);
  }

  @Get()
  @ApiOperation({ summary: 'List experiments', description: 'Lists experiments, newest first.' })
  @ApiOkResponse({ type: ExperimentListBody, description: 'One page', example: EXPERIMENT_LIST_EXAMPLE })
  @ApiErrors([400, 'state: must be one of running, completed, failed, cancelled'])
  list(@Query() query: ExperimentListQuery): Promise<ExperimentListBody> {
    return this.queries.list(query);
  }

  @Get(':experiment_id')
  @ApiOperation({
    summary: 'Get an experiment',
    description: 'Returns its progress, and its summary when it has ended.',
  })
  @ApiExperimentId()
  @ApiOkResponse({
    type: ExperimentBody,
    description: 'The experiment',
    example: {
      ...EXPERIMENT_EXAMPLE,
      state: 'completed',
      ended_trials: 6_160,
      progress_percentage: 100,
      ended_at: '2026-11-20T10:04:00.000Z',
      summary: SUMMARY_EXAMPLE,
    },
  })
  @ApiErrors([404, NOT_FOUND])
  get(@Param('experiment_id') id: string): Promise<ExperimentBody> {
    return this.queries.get(id);
  }

  @Get(':experiment_id/rows')
  @ApiOperation({
    summary: 'List the rows of an experiment',
    description:
      'Lists the rows that have begun, in the order of the data set, with the output and scores of each variant.',
  })
  @ApiExperimentId()
  @ApiOkResponse({ type: ExperimentRowsBody, description: 'One page', example: EXPERIMENT_ROWS_EXAMPLE })
  @ApiErrors([400, WRONG_CURSOR], [404, NOT_FOUND])
  rows(@Param('experiment_id') id: string, @Query() query: ExperimentRowsQuery): Promise<ExperimentRowsBody> {
    return this.queries.rowsOf(id, query);
  }

  @Post(':experiment_id/cancel')
  @TakesNoFields()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Cancel an experiment',
    description: 'Starts no further rows, and cancels those that run. The summary is that of the rows that have ended.',
  })
  @ApiExperimentId()
  @ApiOkResponse({
    type: ExperimentBody,
    description: 'The cancelled experiment',
    example: {
      ...EXPERIMENT_EXAMPLE,
      state: 'cancelled',
      ended_at: '2026-11-20T10:01:00.000Z',
      summary: SUMMARY_EXAMPLE,
    },
  })
  @ApiErrors(
    [404, NOT_FOUND],
    [409, `Experiment ${EXPERIMENT_EXAMPLE.experiment_id} has already ended (completed) and cannot be cancelled`],
    503,
  )
  cancel(@Param('experiment_id') id: string): Promise<ExperimentBody> {
    return this.control.cancel(id);
  }
}
