import type { JsonObject } from '../../../common/json.js';
import { ARTIFACT_EXAMPLE, ArtifactBody } from '../../../http/dto/artifact-body.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import {
  ApiForm,
  EXECUTION_EXAMPLE,
  type ExecutionBody,
  FORM_EXAMPLE,
  LISTED_EXECUTION_EXAMPLE,
} from './execution-body.js';
import { FAIL_EXAMPLE, LEASE_TOKEN_EXAMPLE } from './lease-requests.js';

/** The end of a lease. */
export class LeaseBody {
  @ApiProperty({ format: 'date-time', description: 'When the lease expires, unless a heartbeat renews it' })
  lease_until!: string;
}

export const LEASE_EXAMPLE: LeaseBody = { lease_until: '2026-11-20T10:01:00.000Z' };

/** A claimed execution, as its claimant receives it. */
export class HeldExecutionBody extends LeaseBody {
  @ApiProperty({
    format: 'uuid',
    description: 'The same for every attempt; use it as a key for effects that must happen once',
  })
  execution_id!: string;

  @ApiProperty({ description: 'The correlation that it belongs to' })
  correlation_id!: string;

  @ApiProperty()
  agent!: string;

  @ApiProperty({ type: 'integer', description: 'Number of the attempt, from 1' })
  attempt!: number;

  @ApiProperty({ type: [ArtifactBody], description: 'Inputs, in the order in which the agent receives them' })
  inputs!: ArtifactBody[];

  @ApiProperty({ description: 'Needed to complete, fail, release or renew it; only shown here' })
  lease_token!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Assignee of the execution; null if it is not assigned',
  })
  assignee!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When it is escalated or fails, unless it ends before',
  })
  due_at!: string | null;

  @ApiForm()
  form!: JsonObject;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'W3C Trace Context of the execution. Send it along in calls to other services; null if tracing is off',
  })
  traceparent!: string | null;
}

export class ClaimBody {
  @ApiProperty({ type: [HeldExecutionBody], description: 'Empty if no execution became available in time' })
  executions!: HeldExecutionBody[];
}

const READING: ArtifactBody = {
  ...(ARTIFACT_EXAMPLE as ArtifactBody),
  type: 'Reading',
  payload: { total: 220.5 },
  produced_by: 'reader',
  correlation_id: 'invoice-1',
  tags: [],
};

const ASSIGNED = {
  agent: 'approver',
  correlation_id: READING.correlation_id,
  attempt: 1,
  inputs: [READING],
  assignee: 'anna',
  due_at: '2026-11-22T10:00:00.000Z',
  form: FORM_EXAMPLE,
};

export const HELD_EXAMPLE: HeldExecutionBody = {
  execution_id: LISTED_EXECUTION_EXAMPLE.id,
  ...ASSIGNED,
  lease_token: LEASE_TOKEN_EXAMPLE,
  ...LEASE_EXAMPLE,
  traceparent: null,
};

const { started_at, ended_at } = LISTED_EXECUTION_EXAMPLE;

export const RELEASED_EXAMPLE: ExecutionBody = {
  ...EXECUTION_EXAMPLE,
  ...ASSIGNED,
  state: 'pending',
  ended_at: null,
  error_type: null,
  error_message: null,
  failure_group: null,
  errors: [],
  attempts: [],
};

export const COMPLETED_EXAMPLE: ExecutionBody = {
  ...RELEASED_EXAMPLE,
  state: 'completed',
  ended_at,
  claimed_by: 'anna',
  outputs: [
    {
      ...READING,
      id: '019a7f5e-0d3f-7a44-8c21-7b1e9d0f2a30',
      type: 'Approval',
      payload: { approved: true },
      produced_by: 'approver',
      created_at: ended_at!,
    },
  ],
  attempts: [{ round: 0, attempt: 1, started_at, ended_at, error_type: null, error_message: null }],
};

export const FAILED_ATTEMPT_EXAMPLE: ExecutionBody = {
  ...RELEASED_EXAMPLE,
  attempt: 2,
  next_attempt_at: '2026-11-20T10:00:01.120Z',
  claimed_by: 'anna',
  attempts: [
    {
      round: 0,
      attempt: 1,
      started_at,
      ended_at: ended_at!,
      error_type: FAIL_EXAMPLE.error_type,
      error_message: FAIL_EXAMPLE.error_message,
    },
  ],
};
