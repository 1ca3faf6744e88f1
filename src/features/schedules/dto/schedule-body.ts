import type { JsonObject } from '../../../common/json.js';
import { NextPageBody, PageBody } from '../../../http/dto/page.js';
import { ApiParam, ApiProperty } from '../../../http/openapi/documentation.js';
import { QueryInteger } from '../../../http/validation/query.js';
import { OPTIONS_EXAMPLE, TICK_STATES } from './schedule-requests.js';

/** A time of a schedule. */
export class TickTimeBody {
  @ApiProperty({ format: 'date-time' })
  scheduled_for!: string;

  @ApiProperty({ format: 'date-time', description: 'The same time in the time zone of the schedule' })
  local!: string;
}

/** A tick that is decided. */
export class TickBody extends TickTimeBody {
  @ApiProperty({ enum: TICK_STATES, description: '`queued`: waits for the end of the work of an earlier tick' })
  state!: (typeof TICK_STATES)[number];

  @ApiProperty({ enum: ['time', 'trigger', 'backfill'], description: 'Why it was published or decided' })
  cause!: 'time' | 'trigger' | 'backfill';

  @ApiProperty({ type: String, nullable: true, description: 'Why it was skipped or has failed' })
  reason!: string | null;

  @ApiProperty({ type: 'integer', description: 'The version of the schedule that it belongs to' })
  version!: number;

  @ApiProperty({ type: String, nullable: true, format: 'uuid' })
  artifact_id!: string | null;

  @ApiProperty({ type: String, nullable: true })
  correlation_id!: string | null;

  @ApiProperty({ format: 'date-time' })
  decided_at!: string;
}

export class ScheduleBody {
  @ApiProperty()
  name!: string;

  @ApiProperty({ enum: ['file', 'api'], description: '`file`: it is in the configuration file, and cannot be changed' })
  source!: 'file' | 'api';

  @ApiProperty({ type: 'integer', description: 'Increases with each change of the options' })
  version!: number;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'The options, as they were written' })
  options!: JsonObject;

  @ApiProperty({ type: String, nullable: true, format: 'date-time', description: 'Null: it is not paused' })
  paused_at!: string | null;

  @ApiProperty({ required: false, description: 'Absent: it is paused, or has no further tick' })
  next?: TickTimeBody;

  @ApiProperty({ required: false, description: 'The latest tick that is decided. Absent: there is none' })
  last?: TickBody;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ format: 'date-time' })
  updated_at!: string;
}

export class ScheduleListQuery {
  @QueryInteger({ description: 'Maximum number of items on the page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;

  @QueryInteger({ description: 'Number of items to skip', min: 0, max: 1_000_000, default: 0, example: 0 })
  offset!: number;
}

export class ScheduleListBody {
  @ApiProperty({ type: [ScheduleBody] })
  items!: ScheduleBody[];

  @ApiProperty()
  pagination!: PageBody;
}

export class PreviewBody {
  @ApiProperty({ type: [TickTimeBody] })
  ticks!: TickTimeBody[];
}

export class TicksBody {
  @ApiProperty({ type: [TickBody] })
  ticks!: TickBody[];

  @ApiProperty()
  pagination!: NextPageBody;
}

/** A tick of a backfill. */
export class BackfilledBody extends TickTimeBody {
  @ApiProperty({ type: 'integer', description: 'The version of the schedule at this time' })
  version!: number;

  @ApiProperty({ enum: ['published', 'failed'], description: '`failed`: it cannot be published' })
  state!: 'published' | 'failed';

  @ApiProperty({ type: String, nullable: true, description: 'Why it has failed' })
  reason!: string | null;
}

export class BackfillBody {
  @ApiProperty({ type: [BackfilledBody] })
  ticks!: BackfilledBody[];

  @ApiProperty({ description: 'Whether nothing was published' })
  dry_run!: boolean;
}

const TIME_EXAMPLE: TickTimeBody = {
  scheduled_for: '2026-11-20T06:00:00.000Z',
  local: '2026-11-20T07:00:00+01:00',
};

export const TICK_EXAMPLE: TickBody = {
  ...TIME_EXAMPLE,
  state: 'published',
  cause: 'time',
  reason: null,
  version: 1,
  artifact_id: '019a9fe1-a680-7d20-b1c5-3e4f5a6b7c81',
  correlation_id: '019a9fe1-a6f1-7a11-8d3c-1f2e3d4c5b6a',
  decided_at: '2026-11-20T06:00:00.003Z',
};

export const SCHEDULE_EXAMPLE: ScheduleBody = {
  name: 'daily-report',
  source: 'api',
  version: 1,
  options: OPTIONS_EXAMPLE,
  paused_at: null,
  next: { scheduled_for: '2026-11-23T06:00:00.000Z', local: '2026-11-23T07:00:00+01:00' },
  last: TICK_EXAMPLE,
  created_at: '2026-11-01T09:00:00.000Z',
  updated_at: '2026-11-01T09:00:00.000Z',
};

export const SCHEDULE_LIST_EXAMPLE: ScheduleListBody = {
  items: [SCHEDULE_EXAMPLE],
  pagination: { limit: 50, offset: 0, has_more: false },
};
export const PREVIEW_EXAMPLE: PreviewBody = { ticks: [SCHEDULE_EXAMPLE.next!] };
export const TICKS_EXAMPLE: TicksBody = {
  ticks: [TICK_EXAMPLE],
  pagination: { limit: 50, after: null, next: null, has_more: false },
};
export const BACKFILL_EXAMPLE: BackfillBody = {
  ticks: [{ ...TIME_EXAMPLE, version: 1, state: 'published', reason: null }],
  dry_run: true,
};

export const ApiScheduleName = (): MethodDecorator =>
  ApiParam({
    name: 'schedule_name',
    description: "The schedule's name",
    schema: { type: 'string', minLength: 1, example: SCHEDULE_EXAMPLE.name },
  });
