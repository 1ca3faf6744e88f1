import { notFromEarlierPage, type Position, toCursor } from '../../common/page-cursor.js';
import { ApiProperty } from '../openapi/documentation.js';
import { QueryInteger, QueryText, QueryTimestamp } from '../validation/query.js';

/** Position of a page in a list without a total count. */
export class PageBody {
  @ApiProperty({ type: 'integer' })
  limit!: number;

  @ApiProperty({ type: 'integer' })
  offset!: number;

  @ApiProperty({ description: 'Whether there are more items after this page' })
  has_more!: boolean;
}

/** Position of a page in a list that continues after the `next` of a page. */
export class NextPageBody {
  @ApiProperty({ type: 'integer' })
  limit!: number;

  @ApiProperty({ type: String, nullable: true })
  after!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Value of `after` for the next page; null on the last one',
  })
  next!: string | null;

  @ApiProperty({ description: 'Whether there are more items after this page' })
  has_more!: boolean;
}

/** `next`: the position of the last item of the page; null if it is the last page. */
export const nextPage = (limit: number, after: string | undefined, next: Position | null): NextPageBody => ({
  limit,
  after: after ?? null,
  next: next && toCursor(next),
  has_more: next !== null,
});

/** An example of the answer to an `after` that is not the `next` of a page. */
export const WRONG_CURSOR = notFromEarlierPage('2').message;

/** The query of a list of runs or batches, newest first. Each list adds its statuses. */
export class PageQuery {
  @QueryText({ description: 'Only items of this agent', example: 'classifier' })
  agent?: string;

  @QueryTimestamp({
    description: 'Created at this time or later: ISO 8601, UTC if no time zone is given',
    example: '2026-11-20T00:00:00Z',
  })
  from?: number;

  @QueryTimestamp({
    description: 'Created at this time or earlier: ISO 8601, UTC if no time zone is given',
    example: '2026-11-21T00:00:00Z',
  })
  to?: number;

  @QueryInteger({ description: 'Items on a page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;

  @QueryInteger({ description: 'Items to skip before the page', min: 0, max: 1_000_000, default: 0, example: 0 })
  offset!: number;
}
