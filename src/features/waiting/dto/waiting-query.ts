import { QueryInteger, QueryText } from '../../../http/validation/query.js';

/** The page of a list with a cursor. */
export class WaitingQuery {
  @QueryInteger({ description: 'Maximum number of items on the page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;

  @QueryText({
    description: 'The page begins after this item; send `next` of the previous page',
    example: 'WyJzdXBlcnZpc29yIiwwXQ',
  })
  after?: string;
}

export class WaitingGroupsQuery extends WaitingQuery {
  @QueryText({ description: 'Keeps only joins and batch windows of this agent', example: 'supervisor' })
  agent?: string;

  @QueryText({
    description: 'Keeps only joins and batch windows with artifacts of this correlation',
    example: 'order-4711',
  })
  correlation_id?: string;
}
