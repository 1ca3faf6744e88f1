import { QueryInteger } from '../../../http/validation/query.js';
import { ChangelogFilterQuery } from './changelog-filter-query.js';

export class ChangelogEventsQuery extends ChangelogFilterQuery {
  @QueryInteger({
    description: 'The page begins after this position; send `next` of the previous page',
    min: 0,
    default: 0,
    example: 0,
  })
  after!: number;

  @QueryInteger({ description: 'Maximum number of entries on the page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;
}
