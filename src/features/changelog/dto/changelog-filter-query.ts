import type { ChangelogFilter } from '../../../blackboard/queries/changelog-rows.js';
import { MOST_FILTER_VALUES, refuseTooManyValues, VALUES_TOGETHER } from '../../../http/validation/filter-values.js';
import { QueryList } from '../../../http/validation/query.js';

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
}

/** Throws DomainError `invalid` where the query has too many values. */
export function toChangelogFilter({
  correlation_id = [],
  artifact_type = [],
  produced_by = [],
}: ChangelogFilterQuery): ChangelogFilter {
  refuseTooManyValues({ correlation_id, artifact_type, produced_by });
  return { correlationIds: correlation_id, types: artifact_type, producers: produced_by };
}
