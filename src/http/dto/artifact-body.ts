import { VISIBILITY_KINDS } from '../../catalog/parse-visibility.js';
import type { Visibility } from '../../catalog/visibility.js';
import type { JsonObject } from '../../common/json.js';
import { ApiProperty } from '../openapi/documentation.js';
import { ApiVisibility } from './api-visibility.js';

export const ARTIFACT_EXAMPLE = {
  id: '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80',
  type: 'CustomerMessage',
  payload: { text: 'My card has not arrived yet' },
  produced_by: 'external',
  execution_id: null,
  visibility: { kind: 'Public' },
  visibility_kind: 'Public',
  created_at: '2026-11-20T10:00:00.000Z',
  correlation_id: 'order-4711',
  partition_key: null,
  tags: ['channel:chat'],
  version: 1,
};

export const PRODUCED_EXAMPLE = {
  ...ARTIFACT_EXAMPLE,
  id: '019a7f5e-0d2e-7b11-8a54-2f6c1b3d5e70',
  type: 'Intent',
  payload: { intent: 'card_arrival', confidence: 0.98 },
  produced_by: 'classifier',
  execution_id: '019a7f5e-0c9b-7d20-b1c5-3e4f5a6b7c80',
  tags: [],
};

/** An artifact in an answer. */
export class ArtifactBody {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ description: 'Name of its artifact type' })
  type!: string;

  @ApiProperty({ type: 'object', additionalProperties: true })
  payload!: JsonObject;

  @ApiProperty({ description: 'The producing agent, or `external` for what a client published' })
  produced_by!: string;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'The execution that published it; null if a client did, or if it is the error of no execution',
  })
  execution_id!: string | null;

  @ApiVisibility()
  visibility!: Visibility;

  @ApiProperty({ enum: [...VISIBILITY_KINDS] })
  visibility_kind!: string;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ description: 'The workflow that the artifact belongs to' })
  correlation_id!: string;

  @ApiProperty({ type: String, nullable: true })
  partition_key!: string | null;

  @ApiProperty({ type: [String] })
  tags!: string[];

  @ApiProperty({ type: 'integer', description: 'Version of its type' })
  version!: number;
}

export class ConsumptionBody {
  @ApiProperty({ description: 'The agent', example: 'classifier' })
  consumer!: string;

  @ApiProperty({ description: 'The execution', format: 'uuid', example: '019a7f5e-0c9b-7d20-b1c5-3e4f5a6b7c80' })
  run_id!: string;

  @ApiProperty({ format: 'date-time', example: '2026-11-20T10:00:00.120Z' })
  consumed_at!: string;
}

/** An artifact in a list. */
export class ListedArtifactBody extends ArtifactBody {
  @ApiProperty({ type: [ConsumptionBody], required: false, description: 'Only with `embed_meta=true`' })
  consumptions?: ConsumptionBody[];

  @ApiProperty({ type: [String], required: false, description: 'The distinct consumers; only with `embed_meta=true`' })
  consumed_by?: string[];
}
