import { ApiProperty } from '@nestjs/swagger';
import type { JsonObject } from '../../../common/json.js';
import { UsageBody } from '../../../http/dto/usage-body.js';
import { ARTIFACT_EXAMPLE, ArtifactBody } from '../../../http/dto/artifact-body.js';

/** What completes an execution of an external agent looks like, for whoever shows it to a person. */
export const ApiForm = (options: { required?: false } = {}): PropertyDecorator =>
  ApiProperty({
    description: "Of an external agent's: by the names of the types that it publishes, the JSON Schema of their payloads",
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: true },
    selfRequired: options.required ?? true,
  });

export const FORM_EXAMPLE = { Approval: { type: 'object', required: ['approved'], properties: { approved: { type: 'boolean' } } } };

export const EXECUTION_STATES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const;

/** An execution in a list. */
export class ListedExecutionBody {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty()
  agent!: string;

  @ApiProperty({ description: 'The workflow that it belongs to' })
  correlation_id!: string;

  @ApiProperty({ enum: EXECUTION_STATES, description: '`failed`: for good, its attempts are used up' })
  state!: (typeof EXECUTION_STATES)[number];

  @ApiProperty({ type: Boolean, required: false, description: 'True where it waits for an agent that no process has; absent where it does not' })
  without_agent?: true;

  @ApiProperty({ description: 'True for a direct run, to whose outputs no agent reacts' })
  direct!: boolean;

  @ApiProperty({ type: 'integer', description: 'The attempt that runs, comes next or was the last, from 1 in each round' })
  attempt!: number;

  @ApiProperty({ type: 'integer', description: 'How often it was retried after it had failed for good' })
  round!: number;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'Of its first attempt' })
  started_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  ended_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'Where an attempt has failed: when the next one may start' })
  next_attempt_at!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Why it has failed for good' })
  error_type!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Why it has failed for good' })
  error_message!: string | null;

  @ApiProperty({ type: String, nullable: true, description: "Of an external agent's: whose it is; null where it is anybody's, and for other agents" })
  assignee!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'The name that whoever claimed it last, from outside, gave' })
  claimed_by!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'Until when whoever claimed it holds it; null where nobody outside does' })
  lease_until!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: "Of an external agent's: when it is escalated or fails, if it has not ended" })
  due_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'When it was escalated' })
  escalated_at!: string | null;
}

export class ExecutionAttemptBody {
  @ApiProperty({ type: 'integer', description: "The execution's round at the time" })
  round!: number;

  @ApiProperty({ type: 'integer' })
  attempt!: number;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'Null where it was ended before it could begin' })
  started_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'Null while it runs' })
  ended_at!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Why it failed, if it did' })
  error_type!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Why it failed, if it did' })
  error_message!: string | null;
}

/** What one attempt used of a model. */
export class ModelUseBody extends UsageBody {
  @ApiProperty({ type: 'integer' })
  attempt!: number;

  @ApiProperty({ description: 'As the configuration names it' })
  model!: string;

  @ApiProperty({ type: 'integer', description: 'How long its calls took, together' })
  latency_ms!: number;

  @ApiProperty({ format: 'date-time', description: 'When the attempt ended' })
  at!: string;
}

/** One call of a tool by a model. What it was asked and what it answered may be secret, and is not kept. */
export class ToolCallBody {
  @ApiProperty({ type: 'integer' })
  attempt!: number;

  @ApiProperty({ description: 'The program, or the origin of the URL, that serves the tool' })
  server!: string;

  @ApiProperty()
  tool!: string;

  @ApiProperty({ enum: ['ok', 'error', 'failed'], description: 'error: the tool said that it could not; failed: no answer came' })
  outcome!: 'ok' | 'error' | 'failed';

  @ApiProperty({ format: 'date-time', description: 'When it began' })
  at!: string;

  @ApiProperty({ type: 'integer', required: false, description: 'Absent where the attempt ended first' })
  duration_ms?: number;

  @ApiProperty({ type: 'integer', description: 'How much the model was told' })
  result_bytes!: number;
}

/** An execution with all that belongs to it. */
export class ExecutionBody extends ListedExecutionBody {
  @ApiProperty({ type: 'integer', description: 'How often its process ended while it ran, in this round; that repeats the same attempt' })
  lost_leases!: number;

  @ApiProperty({ type: [ArtifactBody], description: 'In the order in which the agent sees them' })
  inputs!: ArtifactBody[];

  @ApiProperty({ type: [ArtifactBody], description: 'What it published, in order' })
  outputs!: ArtifactBody[];

  @ApiProperty({ type: [ArtifactBody], description: 'The WorkflowError artifacts that it left: one for each round that failed' })
  errors!: ArtifactBody[];

  @ApiProperty({ type: [ExecutionAttemptBody], description: 'Those that have begun, in order' })
  attempts!: ExecutionAttemptBody[];

  @ApiForm({ required: false })
  form?: JsonObject;

  @ApiProperty({ type: [ModelUseBody], required: false, description: 'Of its attempts that used a model, in order' })
  model_uses?: ModelUseBody[];

  @ApiProperty({ type: [ToolCallBody], required: false, description: 'What its models called of tools, in order, once the attempt has ended; of more than 1,000 the newest' })
  tool_calls?: ToolCallBody[];
}

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
};
