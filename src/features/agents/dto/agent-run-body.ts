import { ApiProperty } from '@nestjs/swagger';

import { ArtifactBody, PRODUCED_EXAMPLE } from '../../../http/dto/artifact-body.js';

export class RunAgentBody {
  @ApiProperty({ type: [ArtifactBody], description: 'The artifacts that the agent published' })
  artifacts!: ArtifactBody[];
}

export const RUN_EXAMPLE = { artifacts: [PRODUCED_EXAMPLE] };
