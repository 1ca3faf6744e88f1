import { toCursor } from '../../../common/page-cursor.js';
import type { CorrelationState } from '../../../database/schema.js';
import { NextPageBody } from '../../../http/dto/page.js';
import { MAX_CORRELATION_ID } from '../../../http/middleware/correlation-id.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import {
  QueryChoice,
  QueryInteger,
  QueryReplays,
  QueryText,
  QueryTimestamp,
  QueryVisibleAscii,
} from '../../../http/validation/query.js';
import { CorrelationStatusBody, STATUS_EXAMPLE } from './correlation-status-body.js';

const STATES = ['active', 'completed', 'failed', 'cancelled'] as const satisfies CorrelationState[];

export class CorrelationListQuery {
  @QueryChoice({ description: 'Keeps only correlations in this state', choices: STATES, example: 'failed' })
  state?: CorrelationState;

  @QueryText({ description: 'Keeps only correlations in which this agent had an execution', example: 'classifier' })
  agent?: string;

  @QueryText({
    description: 'Keeps only correlations into which an artifact of this type was published',
    example: 'CustomerMessage',
  })
  type?: string;

  @QueryText({
    description: 'Keeps only correlations into which an artifact with this tag was published',
    example: 'channel:chat',
  })
  tag?: string;

  @QueryTimestamp({
    description: 'Started at this time or later: ISO 8601, UTC if no time zone is given',
    example: '2026-11-20T00:00:00Z',
  })
  from?: number;

  @QueryTimestamp({
    description: 'Started at this time or earlier: ISO 8601, UTC if no time zone is given',
    example: '2026-11-21T00:00:00Z',
  })
  to?: number;

  @QueryVisibleAscii({
    description: 'Keeps only correlations whose id begins with this text',
    maxLength: MAX_CORRELATION_ID,
    example: 'order-',
  })
  id_prefix?: string;

  @QueryReplays('correlations')
  replay!: boolean;

  @QueryInteger({ description: 'Maximum number of items on the page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;

  @QueryText({
    description: 'The page begins after this correlation; send `next` of the previous page',
    example: toCursor([1_763_632_800_000, 42]),
  })
  after?: string;
}

export class ListedCorrelationBody extends CorrelationStatusBody {
  @ApiProperty({ enum: STATES, description: '`failed` means that it has ended and agents produced nothing but errors' })
  declare state: CorrelationState;

  @ApiProperty({
    type: 'integer',
    description: 'How many executions, timers and groups with a time limit keep the correlation active',
  })
  pending_count!: number;

  @ApiProperty({ format: 'date-time', nullable: false })
  declare started_at: string;

  @ApiProperty({ format: 'date-time', nullable: false })
  declare last_activity_at: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'Null while it is active' })
  settled_at!: string | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Milliseconds from `started_at` to `settled_at`; null while it is active',
  })
  duration_ms!: number | null;
}

export class CorrelationListBody {
  @ApiProperty({ type: [ListedCorrelationBody] })
  items!: ListedCorrelationBody[];

  @ApiProperty()
  pagination!: NextPageBody;
}

export const CORRELATION_LIST_EXAMPLE: CorrelationListBody = {
  items: [
    {
      ...STATUS_EXAMPLE,
      state: 'completed',
      started_at: '2026-11-20T10:00:00.000Z',
      last_activity_at: '2026-11-20T10:00:00.850Z',
      pending_count: 0,
      settled_at: '2026-11-20T10:00:00.850Z',
      duration_ms: 850,
    },
  ],
  pagination: { limit: 50, after: null, next: null, has_more: false },
};
