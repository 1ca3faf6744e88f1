import { MOST_COUNTED_OF_KEY } from '../../../blackboard/limits/blocked-key-rows.js';
import { NextPageBody } from '../../../http/dto/page.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { QueryInteger, QueryText } from '../../../http/validation/query.js';
import { LIMIT_EXAMPLE, WaiterBody } from './limit-body.js';

/** A key for which executions wait. */
export class LimitKeyBody {
  @ApiProperty({ type: String, nullable: true, description: 'JSON of the key; null if all executions share the limit' })
  key!: string | null;

  @ApiProperty({ type: 'integer', description: 'Executions with this key that use the limit' })
  running!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Used units of the burst. Null for a limit without a rate',
  })
  units_used!: number | null;

  @ApiProperty({
    type: 'integer',
    description: `Executions that wait for this key; at most ${MOST_COUNTED_OF_KEY + 1} are counted`,
  })
  waiting!: number;

  @ApiProperty({
    type: WaiterBody,
    nullable: true,
    description: 'The one that was queued first, of those that are counted. Null if it has started meanwhile',
  })
  longest!: WaiterBody | null;

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'date-time',
    description: 'When the rate has room for one unit. Null if it has room now, or if there is none',
  })
  room_at!: string | null;
}

export class LimitKeysBody {
  @ApiProperty({ type: [LimitKeyBody] })
  items!: LimitKeyBody[];

  @ApiProperty()
  pagination!: NextPageBody;
}

export class LimitKeysQuery {
  @QueryInteger({ description: 'Maximum number of items on the page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;

  @QueryText({
    description: 'The page begins after this item; send `next` of the previous page',
    example: 'WyJbXCJwZXJfY3VzdG9tZXJcIiwxN10iXQ',
  })
  after?: string;
}

export const LIMIT_KEYS_EXAMPLE: LimitKeysBody = {
  items: [{ key: '17', running: 1, units_used: null, waiting: 41, longest: LIMIT_EXAMPLE.longest, room_at: null }],
  pagination: { limit: 50, after: null, next: null, has_more: false },
};
