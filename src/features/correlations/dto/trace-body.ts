import { ApiProperty } from '@nestjs/swagger';
import type { Trace, TracedArtifact, TracedAttempt, TracedExecution } from '../../../blackboard/explain/trace.js';
import type { CorrelationState, ExecutionState } from '../../../database/schema.js';
import { ARTIFACT_EXAMPLE, PRODUCED_EXAMPLE } from '../../../http/dto/artifact-body.js';

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
  @ApiProperty({ type: 'integer', description: 'From 1 in each round' })
  attempt!: number;

  @ApiProperty({ type: 'integer', description: 'How often the execution had been retried by hand' })
  round!: number;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'null where no engine was started' })
  started_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  ended_at!: string | null;

  @ApiProperty({ type: String, nullable: true })
  error_type!: string | null;

  @ApiProperty({ type: String, nullable: true })
  error_message!: string | null;
}

export class TracedExecutionBody implements TracedExecution {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty()
  agent!: string;

  @ApiProperty({ type: 'integer', nullable: true, description: "The subscription's place in the agent's `consumes`; null where that was not kept" })
  subscription!: number | null;

  @ApiProperty({ description: 'Whether a caller named the agent, for a run or a direct run' })
  invoked!: boolean;

  @ApiProperty({ description: 'Another correlation where a join or a batch window spans several' })
  correlation_id!: string;

  @ApiProperty({ type: 'integer', description: "The generation of its correlation in which it was made" })
  generation!: number;

  @ApiProperty({ enum: EXECUTION_STATES })
  state!: ExecutionState;

  @ApiProperty({ type: Boolean, required: false, description: 'True where it waits for an agent that no process has; absent where it does not' })
  without_agent?: true;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'When its first attempt started' })
  started_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  ended_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'When the next attempt may start, after one that failed' })
  next_attempt_at!: string | null;

  @ApiProperty({ type: [TracedAttemptBody], description: 'Those that have started' })
  attempts!: TracedAttemptBody[];

  @ApiProperty({ type: String, nullable: true, description: 'Where it failed for good' })
  error_type!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Where it failed for good' })
  error_message!: string | null;

  @ApiProperty({ type: String, nullable: true, description: "Of an external agent's: whose it is; null where it is anybody's" })
  assignee!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'The name that whoever claimed it last, from outside, gave' })
  claimed_by!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'Until when whoever claimed it from outside holds it; null where nobody does' })
  lease_until!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'When it is escalated or fails, if it has not ended' })
  due_at!: string | null;

  @ApiProperty({ type: [String], description: 'Ids of artifacts, of other correlations too' })
  inputs!: string[];

  @ApiProperty({ type: [String], description: 'Ids of the artifacts that it published, its WorkflowError included' })
  outputs!: string[];

  @ApiProperty({ description: 'Whether it has more than the first 100 inputs, outputs or attempts, which are listed' })
  truncated!: boolean;
}

export class TraceBody implements Trace {
  @ApiProperty()
  correlation_id!: string;

  @ApiProperty({ enum: CORRELATION_STATES })
  state!: CorrelationState;

  @ApiProperty({ type: 'integer', description: 'How often it was opened: 1, and one more for each time that something was published into it after its end' })
  generation!: number;

  @ApiProperty({ format: 'date-time' })
  started_at!: string;

  @ApiProperty({ format: 'date-time' })
  last_activity_at!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  settled_at!: string | null;

  @ApiProperty({ type: 'integer', description: 'Of the whole correlation' })
  artifact_count!: number;

  @ApiProperty({ type: 'integer', description: 'Of the whole correlation' })
  error_count!: number;

  @ApiProperty({ type: [TracedArtifactBody], description: 'In the order of publishing' })
  artifacts!: TracedArtifactBody[];

  @ApiProperty({ type: [TracedExecutionBody], description: 'Those that have one of these artifacts as an input or published one, in the order in which they were made' })
  executions!: TracedExecutionBody[];

  @ApiProperty({ description: 'Whether the correlation has artifacts behind these: ask on with `after`' })
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
    { id: ARTIFACT_EXAMPLE.id, type: 'CustomerMessage', produced_by: 'external', execution_id: null, created_at: '2026-11-20T10:00:00.000Z', input_of: [EXECUTION_ID] },
    { id: PRODUCED_EXAMPLE.id, type: 'Intent', produced_by: 'classifier', execution_id: EXECUTION_ID, created_at: '2026-11-20T10:00:00.120Z', input_of: [] },
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
      attempts: [{ attempt: 1, round: 0, started_at: '2026-11-20T10:00:00.004Z', ended_at: '2026-11-20T10:00:00.120Z', error_type: null, error_message: null }],
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
