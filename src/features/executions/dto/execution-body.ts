import { REPLAYED_AS, type ReplayedAs } from '../../../blackboard/correlations/replay-values.js';
import type { JsonObject } from '../../../common/json.js';
import { ApiCause, ApiStack } from '../../../http/dto/api-error-details.js';
import {
  ApiCachedFrom,
  ApiCancelledBy,
  ApiSkippedFor,
  ApiSupersededBy,
  ApiVariant,
} from '../../../http/dto/api-execution-origins.js';
import { ARTIFACT_EXAMPLE, ArtifactBody } from '../../../http/dto/artifact-body.js';
import { UsageBody } from '../../../http/dto/usage-body.js';
import { ApiParam, ApiProperty } from '../../../http/openapi/documentation.js';

/** Documents the schemas from which a client can render a form that completes an execution of an external agent. */
export const ApiForm = (options: { required?: false } = {}): PropertyDecorator =>
  ApiProperty({
    description:
      'For external agents: the JSON Schemas of the payloads that complete the execution, keyed by type name',
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: true },
    selfRequired: options.required ?? true,
  });

export const FORM_EXAMPLE = {
  Approval: { type: 'object', required: ['approved'], properties: { approved: { type: 'boolean' } } },
};

export const EXECUTION_STATES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const;

/** An execution in a list. */
export class ListedExecutionBody {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty()
  agent!: string;

  @ApiProperty({ description: 'The correlation that it belongs to' })
  correlation_id!: string;

  @ApiProperty({ enum: EXECUTION_STATES, description: '`failed` means that no attempt is left' })
  state!: (typeof EXECUTION_STATES)[number];

  @ApiProperty({
    type: Boolean,
    required: false,
    description: 'True while it waits because no process has its agent; otherwise absent',
  })
  without_agent?: true;

  @ApiProperty({ description: 'Whether it is a direct run; agents do not react to the outputs of one' })
  direct!: boolean;

  @ApiProperty({
    required: false,
    enum: REPLAYED_AS,
    description:
      'Only in a replay: whether its agent ran, or its answer was taken from the record, which no engine was started for. ' +
      '`unanswered`: a shadow replay does not run its agent, and has found no answer in the record (yet, while it is pending)',
  })
  replay?: ReplayedAs;

  @ApiProperty({ type: 'integer', description: 'Number of the current, next or last attempt, from 1 in each round' })
  attempt!: number;

  @ApiProperty({ type: 'integer', description: 'Number of manual retries after it failed' })
  round!: number;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'When the first attempt started' })
  started_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  ended_at!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the next attempt may start, after a failed one',
  })
  next_attempt_at!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Error of a failed execution; otherwise null' })
  error_type!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Error of a failed execution; otherwise null' })
  error_message!: string | null;

  @ApiCause()
  cause?: string;

  @ApiStack()
  stack?: string;

  @ApiCancelledBy()
  cancelled_by?: string;

  @ApiCachedFrom()
  cached_from?: string;

  @ApiSkippedFor()
  skipped_for?: string;

  @ApiSupersededBy()
  superseded_by?: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Group of a failed execution, as GET /api/v1/executions/failures lists it; otherwise null',
  })
  failure_group!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      "Digest of its agent's definition at its last end, see `/api/v1/definitions`; null before, and if not known",
  })
  definition!: string | null;

  @ApiVariant()
  variant?: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Assignee of an execution of an external agent; null if it is not assigned, and for other agents',
  })
  assignee!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Name of the last claimant, as its claim gave it' })
  claimed_by!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'End of the lease that a client or a remote agent holds; null if neither holds one',
  })
  lease_until!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When an execution of an external agent is escalated or fails, unless it ends before',
  })
  due_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'When it was escalated' })
  escalated_at!: string | null;
}

export class ExecutionAttemptBody {
  @ApiProperty({ type: 'integer', description: 'Number of manual retries of the execution before this attempt' })
  round!: number;

  @ApiProperty({ type: 'integer' })
  attempt!: number;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Null if the execution ended before the attempt started',
  })
  started_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'Null while it is running' })
  ended_at!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Error of a failed attempt; otherwise null' })
  error_type!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Error of a failed attempt; otherwise null' })
  error_message!: string | null;

  @ApiCause()
  cause?: string;

  @ApiStack()
  stack?: string;
}

/** Model usage of one attempt. */
export class ModelUseBody extends UsageBody {
  @ApiProperty({ type: 'integer' })
  attempt!: number;

  @ApiProperty({ description: 'Name of the model in the configuration' })
  model!: string;

  @ApiProperty({ type: 'integer', description: 'Duration of all its calls in milliseconds' })
  latency_ms!: number;

  @ApiProperty({ format: 'date-time', description: 'When the attempt ended' })
  at!: string;
}

/** One tool call by a model. Arguments and results are not stored, because they may contain secrets. */
export class ToolCallBody {
  @ApiProperty({ type: 'integer' })
  attempt!: number;

  @ApiProperty({ description: 'The program that serves the tool, or the origin of its URL' })
  server!: string;

  @ApiProperty()
  tool!: string;

  @ApiProperty({
    enum: ['ok', 'error', 'failed'],
    description: '`error`: the tool returned an error; `failed`: the call got no answer',
  })
  outcome!: 'ok' | 'error' | 'failed';

  @ApiProperty({ format: 'date-time', description: 'When the call began' })
  at!: string;

  @ApiProperty({ type: 'integer', required: false, description: 'Absent if the attempt ended before the call' })
  duration_ms?: number;

  @ApiProperty({ type: 'integer', description: 'Size of the result that the model received' })
  result_bytes!: number;
}

/** An execution with its artifacts, attempts and model usage. */
export class ExecutionBody extends ListedExecutionBody {
  @ApiProperty({
    type: 'integer',
    description: 'How often its process stopped while it ran, in this round. The same attempt is then repeated',
  })
  lost_leases!: number;

  @ApiProperty({ type: [ArtifactBody], description: 'Inputs, in the order in which the agent receives them' })
  inputs!: ArtifactBody[];

  @ApiProperty({ type: [ArtifactBody], description: 'Artifacts that it published, in order' })
  outputs!: ArtifactBody[];

  @ApiProperty({ type: [ArtifactBody], description: 'WorkflowError artifacts, one for each failed round' })
  errors!: ArtifactBody[];

  @ApiProperty({
    type: [ExecutionAttemptBody],
    description: 'Attempts that have started, in order; of more than 1,000 the newest',
  })
  attempts!: ExecutionAttemptBody[];

  @ApiForm({ required: false })
  form?: JsonObject;

  @ApiProperty({
    type: [ModelUseBody],
    required: false,
    description: 'Model usage of its attempts, in order; of more than 1,000 entries the newest',
  })
  model_uses?: ModelUseBody[];

  @ApiProperty({
    type: [ToolCallBody],
    required: false,
    description: 'Tool calls of ended attempts, in order; of more than 1,000 the newest',
  })
  tool_calls?: ToolCallBody[];
}

/** The group of the failure in the examples. */
export const FAILURE_GROUP = '5f0c2d5e8b7a41f6a3c9d2e4b6f80911';

export const LISTED_EXECUTION_EXAMPLE: ListedExecutionBody = {
  id: '019a7f5e-0c9b-7d20-b1c5-3e4f5a6b7c80',
  agent: 'classifier',
  correlation_id: ARTIFACT_EXAMPLE.correlation_id,
  state: 'failed',
  direct: false,
  attempt: 1,
  round: 0,
  created_at: '2026-11-20T10:00:00.000Z',
  started_at: '2026-11-20T10:00:00.004Z',
  ended_at: '2026-11-20T10:00:00.120Z',
  next_attempt_at: null,
  error_type: 'Error',
  error_message: 'the model could not be read',
  failure_group: FAILURE_GROUP,
  definition: `sha256:${'5'.repeat(64)}`,
  assignee: null,
  claimed_by: null,
  lease_until: null,
  due_at: null,
  escalated_at: null,
};

const INPUT = ARTIFACT_EXAMPLE as ArtifactBody;

export const EXECUTION_EXAMPLE: ExecutionBody = {
  ...LISTED_EXECUTION_EXAMPLE,
  lost_leases: 0,
  inputs: [INPUT],
  outputs: [],
  errors: [
    {
      ...INPUT,
      id: '019a7f5e-0d3f-7a44-8c21-7b1e9d0f2a30',
      type: 'WorkflowError',
      payload: {
        failed_agent: 'classifier',
        error_type: 'Error',
        error_message: 'the model could not be read',
        timestamp: '2026-11-20T10:00:00.120Z',
        execution_id: LISTED_EXECUTION_EXAMPLE.id,
        attempts: 1,
        input_artifact_ids: [INPUT.id],
      },
      produced_by: 'classifier',
      created_at: '2026-11-20T10:00:00.120Z',
      tags: [],
    },
  ],
  attempts: [
    {
      round: 0,
      attempt: 1,
      started_at: LISTED_EXECUTION_EXAMPLE.started_at,
      ended_at: LISTED_EXECUTION_EXAMPLE.ended_at,
      error_type: LISTED_EXECUTION_EXAMPLE.error_type,
      error_message: LISTED_EXECUTION_EXAMPLE.error_message,
    },
  ],
};

export const RETRIED_EXAMPLE: ExecutionBody = {
  ...EXECUTION_EXAMPLE,
  state: 'pending',
  round: 1,
  ended_at: null,
  error_type: null,
  error_message: null,
  failure_group: null,
};

export const ApiExecutionId = (): MethodDecorator =>
  ApiParam({
    name: 'execution_id',
    description: "The execution's id",
    schema: { type: 'string', format: 'uuid', example: EXECUTION_EXAMPLE.id },
  });
