import { applyDecorators } from '@nestjs/common';
import { ArrayMaxSize } from 'class-validator';
import type { ChangelogFilter } from '../../blackboard/queries/changelog-rows.js';
import { IfGiven } from '../../http/if-given.js';
import { QueryList } from '../../http/query.js';

/** Of one filter. */
export const MOST_VALUES = 100;

const FilterList = (description: string, example: string): PropertyDecorator =>
  applyDecorators(QueryList({ description, example: [example] }), IfGiven(), ArrayMaxSize(MOST_VALUES));

/** The filters of the changelog. */
export class ChangelogFilterQuery {
  @FilterList('Correlations, any of them', 'order-4711')
  correlation_id?: string[];

  @FilterList('Artifact type names, any of them', 'CustomerMessage')
  artifact_type?: string[];

  @FilterList('Producers, any of them: agent names, or `external` for what clients published', 'classifier')
  produced_by?: string[];
}

export const toChangelogFilter = ({ correlation_id, artifact_type, produced_by }: ChangelogFilterQuery): ChangelogFilter => ({
  correlationIds: correlation_id ?? [],
  types: artifact_type ?? [],
  producers: produced_by ?? [],
});
