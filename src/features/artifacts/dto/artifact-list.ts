import { ARTIFACT_EXAMPLE, ListedArtifactBody } from '../../../http/dto/artifact-body.js';
import { ListedArtifactsQuery } from '../../../http/dto/artifact-filter-query.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { QueryBoolean, QueryChoice, QueryInteger, QueryText } from '../../../http/validation/query.js';

export class ArtifactListQuery extends ListedArtifactsQuery {
  @QueryInteger({ description: 'Maximum number of artifacts on the page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;

  @QueryInteger({ description: 'Number of matching artifacts to skip', min: 0, default: 0, example: 0 })
  offset!: number;

  @QueryText({
    description:
      'An artifact id; the page begins after this artifact, in the given order, and `offset` is ignored. To follow new artifacts, read the changelog: an artifact that another client is storing may appear before one that is shown already',
    example: '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80',
    format: 'uuid',
  })
  after?: string;

  @QueryChoice({
    description: 'Sort order: `asc` is oldest first, `desc` newest first',
    choices: ['asc', 'desc'],
    default: 'asc',
    example: 'desc',
  })
  order!: 'asc' | 'desc';

  @QueryBoolean({ description: 'Whether to include `consumptions` and `consumed_by`', default: false, example: true })
  embed_meta!: boolean;
}

export class PaginationBody {
  @ApiProperty({ type: 'integer' })
  limit!: number;

  @ApiProperty({ type: 'integer' })
  offset!: number;

  @ApiProperty({ type: 'integer', description: 'All artifacts that match' })
  total!: number;
}

export class ArtifactListBody {
  @ApiProperty({ type: [ListedArtifactBody] })
  items!: ListedArtifactBody[];

  @ApiProperty()
  pagination!: PaginationBody;
}

export const LIST_EXAMPLE = { items: [ARTIFACT_EXAMPLE], pagination: { limit: 50, offset: 0, total: 1 } };
