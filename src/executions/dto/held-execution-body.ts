import { ApiProperty } from '@nestjs/swagger';
import type { JsonObject } from '../../common/json.js';
import { ARTIFACT_EXAMPLE, ArtifactBody } from '../../http/dto/artifact-body.js';
import { ApiForm, FORM_EXAMPLE, LISTED_EXECUTION_EXAMPLE } from './execution-body.js';
import { LEASE_TOKEN_EXAMPLE } from './lease-requests.js';

/** How long a lease holds. */
export class LeaseBody {
  @ApiProperty({ format: 'date-time', description: 'Until then it is held; a heartbeat renews it' })
  lease_until!: string;
}

export const LEASE_EXAMPLE: LeaseBody = { lease_until: '2026-11-20T10:01:00.000Z' };

/** A claimed execution, for whoever claimed it. */
export class HeldExecutionBody extends LeaseBody {
  @ApiProperty({ format: 'uuid', description: 'The same on every attempt: a key for effects that must happen once' })
  execution_id!: string;

  @ApiProperty({ description: 'The workflow that it belongs to' })
  correlation_id!: string;

  @ApiProperty()
  agent!: string;

  @ApiProperty({ type: 'integer', description: 'From 1' })
  attempt!: number;

  @ApiProperty({ type: [ArtifactBody], description: 'In the order in which the agent sees them' })
  inputs!: ArtifactBody[];

  @ApiProperty({ description: 'What completes, fails or renews it; shown here alone' })
  lease_token!: string;

  @ApiProperty({ type: String, nullable: true, description: 'Whose it is; null: anybody’s' })
  assignee!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'When it is escalated or fails, if it has not ended' })
  due_at!: string | null;

  @ApiForm()
  form!: JsonObject;

  @ApiProperty({ type: String, nullable: true, description: 'What caused it (W3C Trace Context), to be sent along to services that are called for it; null where nothing is traced' })
  traceparent!: string | null;
}

export class ClaimBody {
  @ApiProperty({ type: [HeldExecutionBody], description: 'Empty where nothing was there in time' })
  executions!: HeldExecutionBody[];
}

export const HELD_EXAMPLE: HeldExecutionBody = {
  execution_id: LISTED_EXECUTION_EXAMPLE.id,
  correlation_id: LISTED_EXECUTION_EXAMPLE.correlation_id,
  agent: 'invoice-reader',
  attempt: 1,
  inputs: [ARTIFACT_EXAMPLE as ArtifactBody],
  lease_token: LEASE_TOKEN_EXAMPLE,
  ...LEASE_EXAMPLE,
  assignee: null,
  due_at: null,
  form: FORM_EXAMPLE,
  traceparent: null,
};
