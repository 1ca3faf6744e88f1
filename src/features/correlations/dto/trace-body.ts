import { REPLAYED_AS, type ReplayedAs } from '../../../blackboard/correlations/replay-values.js';
import type { Trace, TracedArtifact, TracedAttempt, TracedExecution } from '../../../blackboard/explain/trace.js';
import type { CorrelationState, ExecutionState, ReplayMode } from '../../../database/schema.js';
import { ApiCause, ApiStack } from '../../../http/dto/api-error-details.js';
import {
  ApiCachedFrom,
  ApiCancelledBy,
  ApiSkippedFor,
  ApiSupersededBy,
  ApiVariant,
} from '../../../http/dto/api-execution-origins.js';
import { ARTIFACT_EXAMPLE, PRODUCED_EXAMPLE } from '../../../http/dto/artifact-body.js';
import { REPLAY_MODES } from '../../../http/dto/replay-modes.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { QueryInteger, QueryText } from '../../../http/validation/query.js';

export class TraceQuery {
  @QueryInteger({
    description: 'Maximum number of artifacts on the page',
    min: 1,
    max: 500,
    default: 500,
    example: 100,
  })
  limit!: number;

  @QueryText({
    description: 'An artifact id; the page begins after this artifact. Give the last id of a page to get the next one',
    example: '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80',
    format: 'uuid',
  })
  after?: string;
}

const CORRELATION_STATES = ['active', 'completed', 'failed', 'cancelled'] as const satisfies CorrelationState[];
const EXECUTION_STATES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const satisfies ExecutionState[];

export class TracedArtifactBody implements TracedArtifact {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty()
  type!: string;

  @ApiProperty({ description: 'The producing agent, or `external`' })
  produced_by!: string;

  @ApiProperty({ type: String, format: 'uuid', nullable: true, description: 'The execution that published it' })
  execution_id!: string | null;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ type: [String], description: 'The executions that have it as an input' })
  input_of!: string[];
}

export class TracedAttemptBody implements TracedAttempt {
  @ApiProperty({ type: 'integer', description: 'Number of the attempt, from 1 in each round' })
  attempt!: number;

  @ApiProperty({ type: 'integer', description: 'Number of manual retries of the execution before this attempt' })
  round!: number;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'Null if no engine was started' })
  started_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  ended_at!: string | null;

  @ApiProperty({ type: String, nullable: true })
  error_type!: string | null;

  @ApiProperty({ type: String, nullable: true })
  error_message!: string | null;

  @ApiCause()
  cause?: string;

  @ApiStack()
  stack?: string;
}

export class TracedExecutionBody implements TracedExecution {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty()
  agent!: string;

  @ApiProperty({ type: 'integer', description: "Index of the subscription in the agent's `consumes`" })
  subscription!: number;

  @ApiProperty({ description: 'Whether a client started it: a run or a direct run' })
  invoked!: boolean;

  @ApiProperty({ description: 'Differs from the traced correlation if a join or a batch window spans correlations' })
  correlation_id!: string;

  @ApiProperty({ type: 'integer', description: 'The generation of its correlation in which it was created' })
  generation!: number;

  @ApiProperty({ enum: EXECUTION_STATES })
  state!: ExecutionState;

  @ApiProperty({
    type: Boolean,
    required: false,
    description: 'True while it waits because no process has its agent; otherwise absent',
  })
  without_agent?: true;

  @ApiProperty({ required: false, enum: REPLAYED_AS, description: 'Only in a replay, as in the execution itself' })
  replay?: ReplayedAs;

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

  @ApiProperty({ type: [TracedAttemptBody], description: 'Attempts that have started' })
  attempts!: TracedAttemptBody[];

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

  @ApiVariant()
  variant?: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Assignee of an execution of an external agent; null if it is not assigned',
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
    description: 'When it is escalated or fails, unless it ends before',
  })
  due_at!: string | null;

  @ApiProperty({ type: [String], description: 'Ids of the input artifacts; some may belong to other correlations' })
  inputs!: string[];

  @ApiProperty({ type: [String], description: 'Ids of the artifacts that it published, including its WorkflowError' })
  outputs!: string[];

  @ApiProperty({
    description: 'Whether inputs, outputs or attempts are missing here; only the first 100 of each are listed',
  })
  truncated!: boolean;
}

export class TraceBody implements Trace {
  @ApiProperty()
  correlation_id!: string;

  @ApiProperty({ required: false, enum: REPLAY_MODES, description: 'Absent if it is not a replay' })
  replay_mode?: ReplayMode;

  @ApiProperty({ enum: CORRELATION_STATES })
  state!: CorrelationState;

  @ApiProperty({
    type: 'integer',
    description: 'Starts at 1 and increases each time the settled correlation opens again',
  })
  generation!: number;

  @ApiProperty({ format: 'date-time' })
  started_at!: string;

  @ApiProperty({ format: 'date-time' })
  last_activity_at!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  settled_at!: string | null;

  @ApiProperty({ type: 'integer', description: 'Number of artifacts in the whole correlation' })
  artifact_count!: number;

  @ApiProperty({ type: 'integer', description: 'Number of WorkflowError artifacts in the whole correlation' })
  error_count!: number;

  @ApiProperty({ type: [TracedArtifactBody], description: 'Artifacts of this page, in the order of publishing' })
  artifacts!: TracedArtifactBody[];

  @ApiProperty({
    type: [TracedExecutionBody],
    description: 'Executions that consumed or published one of these artifacts, in the order of their creation',
  })
  executions!: TracedExecutionBody[];

  @ApiProperty({ description: 'Whether there are further artifacts; get them with `after`' })
  truncated!: boolean;
}

const EXECUTION_ID = '019a7f5e-0c9b-7d20-b1c5-3e4f5a6b7c80';

export const TRACE_EXAMPLE: TraceBody = {
  correlation_id: ARTIFACT_EXAMPLE.correlation_id,
  state: 'completed',
  generation: 1,
  started_at: '2026-11-20T10:00:00.000Z',
  last_activity_at: '2026-11-20T10:00:00.120Z',
  settled_at: '2026-11-20T10:00:00.120Z',
  artifact_count: 2,
  error_count: 0,
  artifacts: [
    {
      id: ARTIFACT_EXAMPLE.id,
      type: 'CustomerMessage',
      produced_by: 'external',
      execution_id: null,
      created_at: '2026-11-20T10:00:00.000Z',
      input_of: [EXECUTION_ID],
    },
    {
      id: PRODUCED_EXAMPLE.id,
      type: 'Intent',
      produced_by: 'classifier',
      execution_id: EXECUTION_ID,
      created_at: '2026-11-20T10:00:00.120Z',
      input_of: [],
    },
  ],
  executions: [
    {
      id: EXECUTION_ID,
      agent: 'classifier',
      subscription: 0,
      invoked: false,
      correlation_id: ARTIFACT_EXAMPLE.correlation_id,
      generation: 1,
      state: 'completed',
      created_at: '2026-11-20T10:00:00.000Z',
      started_at: '2026-11-20T10:00:00.004Z',
      ended_at: '2026-11-20T10:00:00.120Z',
      next_attempt_at: null,
      attempts: [
        {
          attempt: 1,
          round: 0,
          started_at: '2026-11-20T10:00:00.004Z',
          ended_at: '2026-11-20T10:00:00.120Z',
          error_type: null,
          error_message: null,
        },
      ],
      error_type: null,
      error_message: null,
      assignee: null,
      claimed_by: null,
      lease_until: null,
      due_at: null,
      inputs: [ARTIFACT_EXAMPLE.id],
      outputs: [PRODUCED_EXAMPLE.id],
      truncated: false,
    },
  ],
  truncated: false,
};
