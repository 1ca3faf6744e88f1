import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';

import { WRONG_CURSOR } from '../../http/dto/page.js';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '../../http/openapi/documentation.js';
import { TakesNoFields } from '../../http/validation/takes-no-fields.js';
import {
  ApiScheduleName,
  BACKFILL_EXAMPLE,
  BackfillBody,
  PREVIEW_EXAMPLE,
  PreviewBody,
  SCHEDULE_EXAMPLE,
  SCHEDULE_LIST_EXAMPLE,
  ScheduleBody,
  ScheduleListBody,
  ScheduleListQuery,
  TICK_EXAMPLE,
  TickBody,
  TICKS_EXAMPLE,
  TicksBody,
} from './dto/schedule-body.js';
import {
  BackfillRequest,
  NewScheduleRequest,
  OPTIONS_EXAMPLE,
  PreviewQuery,
  ScheduleOptionsRequest,
  TicksQuery,
} from './dto/schedule-requests.js';
import { SchedulesService } from './schedules.service.js';

const NOT_FOUND = 'Schedule not found: dayly-report; did you mean daily-report?';
const OF_FILE = 'Schedule daily-report is in the configuration file; change it there';
const CANNOT = 'The tick cannot be published: the configuration does not have the type ReportDue';
const WRONG =
  'options.cron: is not a cron expression of five fields, or six with seconds: the minute 61 is not valid; use 0 to 59';

@ApiTags('Schedules')
@Controller('api/v1/schedules')
export class SchedulesController {
  constructor(private readonly schedules: SchedulesService) {}

  @Get()
  @ApiOperation({ summary: 'List schedules', description: 'Lists schedules in the order of their names.' })
  @ApiOkResponse({ type: ScheduleListBody, description: 'One page', example: SCHEDULE_LIST_EXAMPLE })
  @ApiErrors([400, 'limit: must be a whole number from 1 to 500'])
  list(@Query() query: ScheduleListQuery): Promise<ScheduleListBody> {
    return this.schedules.list(query);
  }

  @Post()
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a schedule', description: 'It ticks from now on.' })
  @ApiBody({
    type: NewScheduleRequest,
    examples: { daily: { value: { name: SCHEDULE_EXAMPLE.name, options: OPTIONS_EXAMPLE } } },
  })
  @ApiOkResponse({ type: ScheduleBody, description: 'The schedule', example: { ...SCHEDULE_EXAMPLE, last: undefined } })
  @ApiErrors([400, WRONG], [409, 'A schedule has the name daily-report already; choose another name'], 503)
  create(@Body() request: NewScheduleRequest): Promise<ScheduleBody> {
    return this.schedules.create(request);
  }

  @Get(':schedule_name')
  @ApiOperation({ summary: 'Get a schedule', description: 'Returns the schedule with its next and its last tick.' })
  @ApiScheduleName()
  @ApiOkResponse({ type: ScheduleBody, description: 'The schedule', example: SCHEDULE_EXAMPLE })
  @ApiErrors([404, NOT_FOUND])
  get(@Param('schedule_name') name: string): Promise<ScheduleBody> {
    return this.schedules.get(name);
  }

  @Put(':schedule_name')
  @ApiOperation({
    summary: 'Change a schedule',
    description: 'Other options are a new version, which ticks from now on. Earlier versions are kept for backfills.',
  })
  @ApiScheduleName()
  @ApiBody({ type: ScheduleOptionsRequest, examples: { daily: { value: { options: OPTIONS_EXAMPLE } } } })
  @ApiOkResponse({ type: ScheduleBody, description: 'The schedule', example: { ...SCHEDULE_EXAMPLE, version: 2 } })
  @ApiErrors([400, WRONG], [404, NOT_FOUND], [409, OF_FILE], 503)
  replace(@Param('schedule_name') name: string, @Body() { options }: ScheduleOptionsRequest): Promise<ScheduleBody> {
    return this.schedules.replace(name, options);
  }

  @Delete(':schedule_name')
  @TakesNoFields()
  @ApiOperation({ summary: 'Delete a schedule', description: 'It ticks no more. What it has published stays.' })
  @ApiScheduleName()
  @ApiOkResponse({
    type: ScheduleBody,
    description: 'The schedule as it was',
    example: { ...SCHEDULE_EXAMPLE, next: undefined },
  })
  @ApiErrors([404, NOT_FOUND], [409, OF_FILE], 503)
  remove(@Param('schedule_name') name: string): Promise<ScheduleBody> {
    return this.schedules.remove(name);
  }

  @Post(':schedule_name/pause')
  @TakesNoFields()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Pause a schedule',
    description: 'It has no ticks until it is resumed, also after restarts. Pausing a paused schedule is a 200.',
  })
  @ApiScheduleName()
  @ApiOkResponse({
    type: ScheduleBody,
    description: 'The paused schedule',
    example: { ...SCHEDULE_EXAMPLE, paused_at: '2026-11-20T10:00:00.000Z', next: undefined },
  })
  @ApiErrors([404, NOT_FOUND], 503)
  pause(@Param('schedule_name') name: string): Promise<ScheduleBody> {
    return this.schedules.pause(name);
  }

  @Post(':schedule_name/resume')
  @TakesNoFields()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Resume a schedule',
    description:
      'It ticks from now on; a backfill publishes the ticks of the pause. Resuming a schedule that is not paused is a 200.',
  })
  @ApiScheduleName()
  @ApiOkResponse({ type: ScheduleBody, description: 'The resumed schedule', example: SCHEDULE_EXAMPLE })
  @ApiErrors([404, NOT_FOUND], 503)
  resume(@Param('schedule_name') name: string): Promise<ScheduleBody> {
    return this.schedules.resume(name);
  }

  @Post(':schedule_name/trigger')
  @TakesNoFields()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Trigger a schedule',
    description: 'Publishes a tick of this moment, also if the schedule is paused, whatever its `overlap` says.',
  })
  @ApiScheduleName()
  @ApiOkResponse({ type: TickBody, description: 'The tick', example: { ...TICK_EXAMPLE, cause: 'trigger' } })
  @ApiErrors([400, CANNOT], [404, NOT_FOUND], 503)
  trigger(@Param('schedule_name') name: string): Promise<TickBody> {
    return this.schedules.trigger(name);
  }

  @Post(':schedule_name/backfill')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Publish ticks of the past',
    description:
      'Publishes the ticks from `from` to `to` that are not published or queued, each by the version of the schedule at ' +
      'its time. One that cannot be published has failed, and the others are published. More than 1,000 ticks in this time ' +
      'are refused. A repeated request publishes what an interrupted one left.',
  })
  @ApiScheduleName()
  @ApiBody({
    type: BackfillRequest,
    examples: { week: { value: { from: '2026-11-01T00:00:00Z', to: '2026-11-08T00:00:00Z', dry_run: true } } },
  })
  @ApiOkResponse({
    type: BackfillBody,
    description: 'The ticks that were published or have failed, or would be',
    example: BACKFILL_EXAMPLE,
  })
  @ApiErrors([400, 'to: must not be in the future'], [404, NOT_FOUND], 503)
  backfill(@Param('schedule_name') name: string, @Body() request: BackfillRequest): Promise<BackfillBody> {
    return this.schedules.backfill(name, request);
  }

  @Get(':schedule_name/preview')
  @ApiOperation({
    summary: 'Preview a schedule',
    description: 'Returns its next ticks. Those of a paused schedule are published only if it is resumed before.',
  })
  @ApiScheduleName()
  @ApiOkResponse({ type: PreviewBody, description: 'The next ticks', example: PREVIEW_EXAMPLE })
  @ApiErrors([400, 'count: must be a whole number from 1 to 1000'], [404, NOT_FOUND])
  preview(@Param('schedule_name') name: string, @Query() { count }: PreviewQuery): Promise<PreviewBody> {
    return this.schedules.preview(name, count);
  }

  @Get(':schedule_name/ticks')
  @ApiOperation({ summary: 'List ticks', description: 'Lists the decided ticks of a schedule, the latest first.' })
  @ApiScheduleName()
  @ApiOkResponse({ type: TicksBody, description: 'One page', example: TICKS_EXAMPLE })
  @ApiErrors([400, WRONG_CURSOR], [404, NOT_FOUND])
  ticks(@Param('schedule_name') name: string, @Query() query: TicksQuery): Promise<TicksBody> {
    return this.schedules.ticks(name, query);
  }
}
