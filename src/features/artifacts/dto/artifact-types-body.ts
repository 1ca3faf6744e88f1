import type { JsonObject } from '../../../common/json.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';

export class ArtifactTypeBody {
  @ApiProperty()
  name!: string;

  @ApiProperty({ type: 'integer' })
  version!: number;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'JSON Schema of the payloads; null means any object',
  })
  schema!: JsonObject | null;

  @ApiProperty()
  description!: string;
}

export class ArtifactTypesBody {
  @ApiProperty({ type: [ArtifactTypeBody] })
  artifact_types!: ArtifactTypeBody[];
}

export const ARTIFACT_TYPES_EXAMPLE: ArtifactTypesBody = {
  artifact_types: [
    {
      name: 'CustomerMessage',
      version: 1,
      schema: { type: 'object', required: ['text'], properties: { text: { type: 'string', minLength: 1 } } },
      description: 'What a customer wrote',
    },
  ],
};
