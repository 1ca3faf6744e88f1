import { isJsonObject, type JsonObject } from '../../../common/json.js';
import { toCursor } from '../../../common/page-cursor.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { BodyTimestamp } from '../../../http/validation/body-timestamp.js';
import { IsBoolean, ValidateBy } from '../../../http/validation/class-validator.js';
import { IfGiven, Opaque } from '../../../http/validation/field-rules.js';
import { QueryChoice, QueryInteger, QueryText } from '../../../http/validation/query.js';
import { IsShortText, SHORT_TEXT_SCHEMA } from '../../../http/validation/text-rules.js';

export const OPTIONS_EXAMPLE: JsonObject = {
  cron: '0 7 * * MON-FRI',
  time_zone: 'Europe/Berlin',
  publishes: { type: 'ReportDue', payload: "{ 'day': scheduled_for.substring(0, 10) }" },
};

export class ScheduleOptionsRequest {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'What a schedule in the configuration file has: `cron`, `every` or `at`, `publishes` and others',
    example: OPTIONS_EXAMPLE,
  })
  @Opaque()
  @ValidateBy({
    name: 'isOptions',
    validator: {
      validate: isJsonObject,
      defaultMessage: () => 'must be an object with publishes and cron, every or at',
    },
  })
  options!: JsonObject;
}

export class NewScheduleRequest extends ScheduleOptionsRequest {
  @ApiProperty({ description: 'Its name', ...SHORT_TEXT_SCHEMA, example: 'daily-report' })
  @IsShortText()
  name!: string;
}

export class BackfillRequest {
  @BodyTimestamp({
    required: true,
    description:
      'The first possible tick, not before 1970: a date begins in the time zone of the schedule, a time is ISO 8601, UTC if no time zone is given',
    example: '2026-11-01T00:00:00Z',
  })
  from!: string;

  @BodyTimestamp({
    required: true,
    description:
      'The last possible tick, not in the future: a date includes the whole day in the time zone of the schedule, a time is ISO 8601, UTC if no time zone is given',
    example: '2026-11-08T00:00:00Z',
  })
  to!: string;

  @ApiProperty({
    required: false,
    description: 'Only lists the ticks, and publishes nothing',
    default: false,
    example: true,
  })
  @IfGiven()
  @IsBoolean()
  dry_run?: boolean;
}

export class PreviewQuery {
  @QueryInteger({ description: 'Maximum number of ticks', min: 1, max: 1_000, default: 20, example: 3 })
  count!: number;
}

export const TICK_STATES = ['published', 'queued', 'skipped', 'failed'] as const;

export class TicksQuery {
  @QueryChoice({ description: 'Only ticks in this state', choices: TICK_STATES, example: 'skipped' })
  state?: (typeof TICK_STATES)[number];

  @QueryInteger({ description: 'Maximum number of ticks on the page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;

  @QueryText({
    description: 'The page begins after this tick; send `next` of the previous page',
    example: toCursor([Date.UTC(2026, 10, 20, 6)]),
  })
  after?: string;
}
