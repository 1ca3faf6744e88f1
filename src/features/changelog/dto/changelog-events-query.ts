import { QueryInteger } from '../../../http/validation/query.js';
import { ChangelogFilterQuery } from './changelog-filter-query.js';

export class ChangelogEventsQuery extends ChangelogFilterQuery {
  @QueryInteger({ description: 'The position that the page begins behind: `next` of the page before', min: 0, default: 0, example: 0 })
  after!: number;

  @QueryInteger({ description: 'Entries on a page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;
}
