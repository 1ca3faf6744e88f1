import { ApiProperty } from '@nestjs/swagger';

import { ArtifactBody, PRODUCED_EXAMPLE } from '../../../http/dto/artifact-body.js';

export class AcceptedBody {
  @ApiProperty({ enum: ['accepted'], description: 'The artifact and every execution that it triggers are stored' })
  status!: 'accepted';
}

export class SyncPublishBody {
  @ApiProperty()
  correlation_id!: string;

  @ApiProperty({
    type: [ArtifactBody],
    description: 'Artifacts that agents produced after this publish, in the order of publishing',
  })
  artifacts!: ArtifactBody[];

  @ApiProperty({ description: 'False after a timeout; `artifacts` then has what was produced until then' })
  completed!: boolean;

  @ApiProperty({ type: 'integer' })
  duration_ms!: number;
}

export const SYNC_EXAMPLE = {
  correlation_id: 'order-4711',
  artifacts: [PRODUCED_EXAMPLE],
  completed: true,
  duration_ms: 42,
};
