import { ArrayMaxSize } from 'class-validator';
import { applyDecorators } from '@nestjs/common';
import type { ArtifactFilter } from '../../blackboard/queries/artifact-filter.js';
import { IfGiven } from '../if-given.js';
import { QueryList, QueryText, QueryTimestamp } from '../query.js';

/** Each value costs a query plan a part of its own. */
const MAX_VALUES = 100;

const FilterList = (description: string, example: string): PropertyDecorator =>
  applyDecorators(QueryList({ description, example: [example] }), IfGiven(), ArrayMaxSize(MAX_VALUES));

/** The filters of every query over artifacts. */
export class ArtifactFilterQuery {
  @FilterList('Artifact type names, any of them', 'CustomerMessage')
  type?: string[];

  @FilterList('Producers, any of them: agent names, or `external` for what clients published', 'classifier')
  produced_by?: string[];

  @QueryText({ description: 'The correlation that the artifact belongs to', example: 'order-4711' })
  correlation_id?: string;

  @FilterList('Tags, all of them', 'channel:chat')
  tag?: string[];

  @QueryTimestamp({ description: 'Created at this time or later: ISO 8601, UTC where no time zone is given', example: '2026-11-20T00:00:00Z' })
  from?: number;

  @QueryTimestamp({ description: 'Created at this time or earlier: ISO 8601, UTC where no time zone is given', example: '2026-11-21T00:00:00Z' })
  to?: number;

  @FilterList('Visibility kinds, any of them: Public, Private, Labelled, Tenant, After', 'Public')
  visibility?: string[];
}

export const toArtifactFilter = (query: ArtifactFilterQuery): ArtifactFilter => ({
  types: distinct(query.type),
  producers: distinct(query.produced_by),
  visibilityKinds: distinct(query.visibility),
  correlationId: query.correlation_id ?? null,
  tags: distinct(query.tag),
  from: query.from ?? null,
  to: query.to ?? null,
});

const distinct = (values: string[] = []): string[] => [...new Set(values)];
