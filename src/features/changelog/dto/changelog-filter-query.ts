import type { ChangelogFilter } from '../../../blackboard/queries/changelog-rows.js';
import { MOST_FILTER_VALUES, refuseTooManyValues, VALUES_TOGETHER } from '../../../http/validation/filter-values.js';
import { QueryList } from '../../../http/validation/query.js';

const FilterList = (description: string, example: string): PropertyDecorator =>
  QueryList({ description: `${description}; ${VALUES_TOGETHER}`, example: [example], most: MOST_FILTER_VALUES });

/** The filters of the changelog. */
export class ChangelogFilterQuery {
  @FilterList('Correlations, any of them', 'order-4711')
  correlation_id?: string[];

  @FilterList('Artifact type names, any of them', 'CustomerMessage')
  artifact_type?: string[];

  @FilterList('Producers, any of them: agent names, or `external` for what clients published', 'classifier')
  produced_by?: string[];
}

/** DomainError `invalid` where it has too many values. */
export function toChangelogFilter({ correlation_id = [], artifact_type = [], produced_by = [] }: ChangelogFilterQuery): ChangelogFilter {
  refuseTooManyValues({ correlation_id, artifact_type, produced_by });
  return { correlationIds: correlation_id, types: artifact_type, producers: produced_by };
}
