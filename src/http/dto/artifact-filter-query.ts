import type { ArtifactFilter } from '../../blackboard/queries/artifact-filter.js';
import { VISIBILITY_KINDS } from '../../catalog/parse-visibility.js';
import {
  MOST_FILTER_TAGS,
  MOST_FILTER_VALUES,
  refuseTooManyValues,
  VALUES_TOGETHER,
} from '../validation/filter-values.js';
import { QueryList, QueryReplays, QueryText, QueryTimestamp } from '../validation/query.js';

const FilterList = (
  description: string,
  example: string,
  { most = MOST_FILTER_VALUES, choices }: { most?: number; choices?: readonly string[] } = {},
): PropertyDecorator =>
  QueryList({ description: `${description}; ${VALUES_TOGETHER}`, example: [example], most, choices });

/** The filters of every query over artifacts. */
export class ArtifactFilterQuery {
  @FilterList('Artifact type names, any of them', 'CustomerMessage')
  type?: string[];

  @FilterList('Producers, any of them: agent names, or `external` for what clients published', 'classifier')
  produced_by?: string[];

  @QueryText({ description: 'The correlation that the artifact belongs to', example: 'order-4711' })
  correlation_id?: string;

  @FilterList('Tags, all of them', 'channel:chat', { most: MOST_FILTER_TAGS })
  tag?: string[];

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

  @FilterList('Visibility kinds, any of them', 'Public', { choices: VISIBILITY_KINDS })
  visibility?: string[];
}

/** The filters of lists and counts of artifacts. */
export class ListedArtifactsQuery extends ArtifactFilterQuery {
  @QueryReplays('artifacts')
  replay!: boolean;
}

/** Throws a DomainError `invalid` if the filter has too many values. */
export function toArtifactFilter({
  type,
  produced_by,
  visibility,
  tag,
  correlation_id,
  from,
  to,
}: ArtifactFilterQuery): ArtifactFilter {
  refuseTooManyValues({ type, produced_by, visibility, tag });
  return {
    types: distinct(type),
    producers: distinct(produced_by),
    visibilityKinds: distinct(visibility),
    correlationId: correlation_id ?? null,
    tags: distinct(tag),
    from: from ?? null,
    to: to ?? null,
    replays: true,
  };
}

/** Like `toArtifactFilter`, but leaves replays out unless they are asked for. */
export const toListFilter = (query: ListedArtifactsQuery): ArtifactFilter => ({
  ...toArtifactFilter(query),
  replays: query.replay || query.correlation_id !== undefined,
});

const distinct = (values: string[] = []): string[] => [...new Set(values)];
