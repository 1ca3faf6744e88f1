import { toCursor } from '../../../common/page-cursor.js';
import { NextPageBody } from '../../../http/dto/page.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { QueryBoolean, QueryInteger, QueryText } from '../../../http/validation/query.js';
import { MOST_COUNTED } from '../target-list.repository.js';
import { DELIVERY_EXAMPLE } from './delivery-body.js';

export class TargetListQuery {
  @QueryBoolean({
    description: 'Keeps only targets whose last attempt had no answer, a 5xx or a 429',
    default: false,
    example: true,
  })
  failing!: boolean;

  @QueryInteger({ description: 'Maximum number of targets on the page', min: 1, max: 100, default: 50, example: 50 })
  limit!: number;

  @QueryText({
    description: 'The page begins after this target; send `next` of the previous page',
    example: toCursor([DELIVERY_EXAMPLE.target_id]),
  })
  after?: string;
}

const COUNTED = `; counted up to ${MOST_COUNTED}`;

/** A receiver of deliveries: one URL with one secret. */
export class TargetBody {
  @ApiProperty()
  target_id!: string;

  @ApiProperty({ description: 'Origin of its URL; the path is not shown, because it may be a secret' })
  target_origin!: string;

  @ApiProperty({
    // A generator for Go would call its values Client and Operator, and its client is a Client, too.
    'x-enumNames': ['SetByClient', 'SetByOperator'],
    enum: ['client', 'operator'],
    description: '`operator`: the `webhook_url` of the settings; `client`: the `webhook` of a publish',
  })
  set_by!: 'client' | 'operator';

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    required: false,
    description:
      'Since when it has answered no attempt, or with a 5xx or a 429; absent if the last attempt was answered',
  })
  failing_since?: string;

  @ApiProperty({
    type: 'integer',
    maximum: MOST_COUNTED,
    description: `Deliveries to it that have not ended${COUNTED}`,
  })
  open!: number;

  @ApiProperty({ type: 'integer', maximum: MOST_COUNTED, description: `Deliveries to it that are dead${COUNTED}` })
  dead!: number;
}

export class TargetListBody {
  @ApiProperty({ type: [TargetBody] })
  items!: TargetBody[];

  @ApiProperty()
  pagination!: NextPageBody;
}

export const TARGET_LIST_EXAMPLE: TargetListBody = {
  items: [
    {
      target_id: DELIVERY_EXAMPLE.target_id,
      target_origin: DELIVERY_EXAMPLE.target_origin,
      set_by: 'client',
      created_at: '2026-11-20T09:58:00.000Z',
      failing_since: '2026-11-20T10:00:00.010Z',
      open: 3,
      dead: 1,
    },
  ],
  pagination: { limit: 50, after: null, next: null, has_more: false },
};
