import { ApiProperty } from '@nestjs/swagger';

import { ARTIFACT_EXAMPLE, ListedArtifactBody } from '../../../http/dto/artifact-body.js';

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
