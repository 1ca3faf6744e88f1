import {
  type ArtifactExplanation,
  CANCEL_VERDICTS,
  type CancelExplanation,
  type Explanation,
  VERDICTS,
} from '../../../blackboard/explain/explanation.js';
import type { ExecutionState } from '../../../database/schema.js';
import { ARTIFACT_EXAMPLE } from '../../../http/dto/artifact-body.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';

const EXECUTION_STATES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const satisfies ExecutionState[];

/** The outcome of the artifact for one subscription. */
export class VerdictBody implements Explanation {
  @ApiProperty()
  agent!: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: "Index of the subscription in the agent's `consumes`; null if it is no longer known",
  })
  subscription!: number | null;

  @ApiProperty({ enum: VERDICTS })
  verdict!: Explanation['verdict'];

  @ApiProperty({ description: 'The verdict as a sentence' })
  detail!: string;

  @ApiProperty({ required: false, format: 'uuid', description: 'With `triggered` and `invoked`' })
  execution_id?: string;

  @ApiProperty({ required: false, enum: EXECUTION_STATES, description: 'With `triggered` and `invoked`' })
  execution_state?: ExecutionState;

  @ApiProperty({
    required: false,
    description:
      "The execution's correlation. It differs from the artifact's if a join or a batch window spans correlations",
  })
  execution_correlation_id?: string;

  @ApiProperty({
    required: false,
    type: [String],
    description: 'With `join_waiting`: the types that are still missing',
  })
  waiting_for?: string[];

  @ApiProperty({
    required: false,
    description:
      'With `join_waiting`, `join_undecided`, and `window_filling` by a key: the key as JSON text, or its SHA-256 if it is long',
  })
  join_key?: string;

  @ApiProperty({
    required: false,
    type: 'integer',
    description: 'With `window_filling`: number of artifacts in the window',
  })
  size?: number;

  @ApiProperty({
    required: false,
    type: 'integer',
    nullable: true,
    description: 'With `window_filling`: number of artifacts that completes the window',
  })
  size_needed?: number | null;

  @ApiProperty({
    required: false,
    format: 'date-time',
    description: 'When the first artifact entered the join or the window',
  })
  since?: string;

  @ApiProperty({
    required: false,
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the wait times out; null if it has no time limit',
  })
  until?: string | null;

  @ApiProperty({
    required: false,
    format: 'uuid',
    description: 'With `limit`, `join_expired` and `agent_removed`: the WorkflowError',
  })
  error_artifact_id?: string;
}

/** Whether the artifact cancels executions of an agent. */
export class CancelVerdictBody implements CancelExplanation {
  @ApiProperty()
  agent!: string;

  @ApiProperty({ enum: CANCEL_VERDICTS })
  verdict!: CancelExplanation['verdict'];

  @ApiProperty({ description: 'The verdict as a sentence' })
  detail!: string;
}

export class ExplanationBody implements ArtifactExplanation {
  @ApiProperty({ format: 'uuid' })
  artifact_id!: string;

  @ApiProperty()
  type!: string;

  @ApiProperty({ description: 'The producing agent, or `external`' })
  produced_by!: string;

  @ApiProperty()
  correlation_id!: string;

  @ApiProperty({
    type: [VerdictBody],
    description: 'Verdicts in the order of the configuration, then those of subscriptions that were removed from it',
  })
  verdicts!: VerdictBody[];

  @ApiProperty({
    required: false,
    type: [CancelVerdictBody],
    description:
      'Whether it cancels executions of the agents that have its type in `cancel_on`, with the current configuration. Absent if there are none',
  })
  cancels?: CancelVerdictBody[];
}

export const EXPLANATION_EXAMPLE: ExplanationBody = {
  artifact_id: ARTIFACT_EXAMPLE.id,
  type: ARTIFACT_EXAMPLE.type,
  produced_by: ARTIFACT_EXAMPLE.produced_by,
  correlation_id: ARTIFACT_EXAMPLE.correlation_id,
  verdicts: [
    {
      agent: 'classifier',
      subscription: 0,
      verdict: 'triggered',
      detail: 'It triggered the agent; the execution completed at 2026-11-20T10:00:00.120Z.',
      execution_id: '019a7f5e-0c9b-7d20-b1c5-3e4f5a6b7c80',
      execution_state: 'completed',
      execution_correlation_id: ARTIFACT_EXAMPLE.correlation_id,
    },
    {
      agent: 'router',
      subscription: 0,
      verdict: 'type',
      detail: 'The subscription takes Intent, and this artifact has the type CustomerMessage.',
    },
  ],
};
