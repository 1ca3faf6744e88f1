import type { ChangelogFilter } from '../../../blackboard/queries/changelog-rows.js';
import { MOST_FILTER_VALUES, refuseTooManyValues, VALUES_TOGETHER } from '../../../http/validation/filter-values.js';
import { QueryBoolean, QueryChoice, QueryInteger, QueryList, QueryReplays } from '../../../http/validation/query.js';

const FilterList = (description: string, example: string): PropertyDecorator =>
  QueryList({ description: `${description}; ${VALUES_TOGETHER}`, example: [example], most: MOST_FILTER_VALUES });

/** The filters of the changelog. */
export class ChangelogFilterQuery {
  @FilterList('Keeps only entries of these correlations', 'order-4711')
  correlation_id?: string[];

  @FilterList('Keeps only artifacts of these types', 'CustomerMessage')
  artifact_type?: string[];

  @FilterList('Keeps only artifacts of these producers: agent names, or `external` for clients', 'classifier')
  produced_by?: string[];

  @QueryReplays('entries')
  replay!: boolean;
}

/** Throws DomainError `invalid` if the query has too many values. */
export function toChangelogFilter({
  correlation_id = [],
  artifact_type = [],
  produced_by = [],
  replay,
}: ChangelogFilterQuery): ChangelogFilter {
  refuseTooManyValues({ correlation_id, artifact_type, produced_by });
  return { correlationIds: correlation_id, types: artifact_type, producers: produced_by, replays: replay };
}

export class ChangelogEventsQuery extends ChangelogFilterQuery {
  @QueryInteger({
    description:
      'The page begins after this position, in the order of the list; send `next` of the previous page. Without it, ' +
      'the list begins with the first entry, or with the last one if the order is `desc`',
    min: 0,
    example: 0,
  })
  after?: number;

  @QueryChoice({
    description: '`asc` lists by position, `desc` the newest first',
    choices: ['asc', 'desc'],
    default: 'asc',
    example: 'asc',
  })
  order!: 'asc' | 'desc';

  @QueryInteger({ description: 'Maximum number of entries on the page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;
}

export class ChangelogStreamQuery extends ChangelogFilterQuery {
  @QueryInteger({
    description:
      'The stream begins after this position. `Last-Event-ID` takes precedence; without both, the stream begins now',
    min: 0,
    example: 0,
  })
  after?: number;

  @QueryBoolean({
    description: 'Whether to also send live events about executions, runs, batches and correlations',
    default: false,
    example: true,
  })
  live!: boolean;
}
