import type { CorrelationState, ExecutionState } from '../../../database/schema.js';
import { ARTIFACT_EXAMPLE, PRODUCED_EXAMPLE } from '../../../http/dto/artifact-body.js';
import { NextPageBody } from '../../../http/dto/page.js';
import { USAGE_EXAMPLE, UsageBody } from '../../../http/dto/usage-body.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import type { Change } from '../payload-changes.js';

/** Artifacts of each correlation that are compared. */
export const MOST_ARTIFACTS = 5_000;

const CORRELATION_STATES = ['active', 'completed', 'failed', 'cancelled'] as const satisfies CorrelationState[];
const EXECUTION_STATES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const satisfies ExecutionState[];
const RESULTS = ['equal', 'changed', 'only_left', 'only_right'] as const;

export class ComparedCorrelationBody {
  @ApiProperty()
  correlation_id!: string;

  @ApiProperty({ enum: CORRELATION_STATES })
  state!: CorrelationState;

  @ApiProperty({ type: 'integer', description: 'Number of artifacts in the whole correlation' })
  artifact_count!: number;

  @ApiProperty({ type: 'integer', description: 'Number of WorkflowError artifacts in the whole correlation' })
  error_count!: number;

  @ApiProperty({ format: 'date-time' })
  started_at!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  settled_at!: string | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Milliseconds until it settled; null while it is active',
  })
  duration_ms!: number | null;

  @ApiProperty({ type: UsageBody, required: false, description: 'Absent if no model was used' })
  usage?: UsageBody;

  @ApiProperty({ description: `Whether it has more than ${MOST_ARTIFACTS} artifacts; only the first are compared` })
  truncated!: boolean;
}

export class AgentTotalsBody {
  @ApiProperty({ type: 'integer', description: "Number of the agent's executions in the correlation" })
  executions!: number;

  @ApiProperty({ type: 'integer', description: 'How many of them have failed' })
  failed!: number;

  @ApiProperty({ type: 'integer', description: 'Attempts that have started' })
  attempts!: number;

  @ApiProperty({ type: 'integer', description: 'Sum of the milliseconds from their first start to their end' })
  duration_ms!: number;

  @ApiProperty({ type: UsageBody, required: false, description: 'Absent if no model was used' })
  usage?: UsageBody;
}

export class ComparedAgentBody {
  @ApiProperty()
  agent!: string;

  @ApiProperty({ type: AgentTotalsBody, required: false, description: 'Absent if it has no execution there' })
  left?: AgentTotalsBody;

  @ApiProperty({ type: AgentTotalsBody, required: false, description: 'Absent if it has no execution there' })
  right?: AgentTotalsBody;
}

export class ComparedExecutionBody {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ enum: EXECUTION_STATES })
  state!: ExecutionState;

  @ApiProperty({ type: 'integer', description: 'Attempts that have started' })
  attempts!: number;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Milliseconds from its first start to its end' })
  duration_ms!: number | null;

  @ApiProperty({ type: UsageBody, required: false, description: 'Absent if no model was used' })
  usage?: UsageBody;
}

export class ComparedArtifactBody {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({
    type: ComparedExecutionBody,
    required: false,
    description: 'The execution that published it; absent if a client published it',
  })
  execution?: ComparedExecutionBody;
}

export class PayloadChangeBody implements Change {
  @ApiProperty({ enum: ['add', 'remove', 'replace'], description: '`add`: only the right payload has the value' })
  op!: Change['op'];

  @ApiProperty({ description: 'JSON Pointer (RFC 6901) into the payload; empty for the whole payload' })
  path!: string;

  @ApiProperty({ required: false, description: 'JSON of the left value; absent for `add`' })
  left?: string;

  @ApiProperty({ required: false, description: 'JSON of the right value; absent for `remove`' })
  right?: string;

  @ApiProperty({
    type: Boolean,
    required: false,
    description: 'True if a value is long: only the first 1,000 characters of its JSON are shown; otherwise absent',
  })
  shortened?: true;
}

export class ComparedPairBody {
  @ApiProperty({ enum: RESULTS })
  result!: (typeof RESULTS)[number];

  @ApiProperty()
  type!: string;

  @ApiProperty({ description: 'The producing agent, or `external`' })
  produced_by!: string;

  @ApiProperty({
    description: 'Whether the two have the same type and producer, but another place in the cascade: other inputs',
  })
  moved!: boolean;

  @ApiProperty({ type: ComparedArtifactBody, required: false, description: 'Absent if the result is `only_right`' })
  left?: ComparedArtifactBody;

  @ApiProperty({ type: ComparedArtifactBody, required: false, description: 'Absent if the result is `only_left`' })
  right?: ComparedArtifactBody;

  @ApiProperty({
    type: [PayloadChangeBody],
    description:
      'What differs between the payloads. Lists are compared place by place. A payload of more than 256 KiB is compared ' +
      'as a whole',
  })
  changes!: PayloadChangeBody[];

  @ApiProperty({ type: 'integer', description: 'Number of further changes; at most 16 KiB of them are listed' })
  changes_left_off!: number;
}

export class ComparisonBody {
  @ApiProperty({ type: ComparedCorrelationBody })
  left!: ComparedCorrelationBody;

  @ApiProperty({ type: ComparedCorrelationBody })
  right!: ComparedCorrelationBody;

  @ApiProperty({ type: [ComparedAgentBody], description: 'Sorted by agent' })
  agents!: ComparedAgentBody[];

  @ApiProperty({ type: 'integer', description: 'Number of artifacts that have a counterpart, on all pages' })
  paired!: number;

  @ApiProperty({ type: 'integer', description: 'Number of artifacts that only the left correlation has' })
  only_left!: number;

  @ApiProperty({ type: 'integer', description: 'Number of artifacts that only the right correlation has' })
  only_right!: number;

  @ApiProperty({
    type: [ComparedPairBody],
    description: 'The pairs of this page, in the order of the left correlation',
  })
  items!: ComparedPairBody[];

  @ApiProperty({ type: NextPageBody })
  pagination!: NextPageBody;
}

const correlation = (id: string, duration_ms: number): ComparedCorrelationBody => ({
  correlation_id: id,
  state: 'completed',
  artifact_count: 2,
  error_count: 0,
  started_at: '2026-11-20T10:00:00.000Z',
  settled_at: new Date(Date.UTC(2026, 10, 20, 10, 0, 0, duration_ms)).toISOString(),
  duration_ms,
  usage: USAGE_EXAMPLE,
  truncated: false,
});

const totals = (duration_ms: number): AgentTotalsBody => ({
  executions: 1,
  failed: 0,
  attempts: 1,
  duration_ms,
  usage: USAGE_EXAMPLE,
});

const execution = (id: string, duration_ms: number): ComparedExecutionBody => ({
  id,
  state: 'completed',
  attempts: 1,
  duration_ms,
  usage: USAGE_EXAMPLE,
});

export const COMPARISON_EXAMPLE: ComparisonBody = {
  left: correlation('order-4711', 120),
  right: correlation('order-4712', 95),
  agents: [{ agent: 'classifier', left: totals(116), right: totals(91) }],
  paired: 2,
  only_left: 0,
  only_right: 0,
  items: [
    {
      result: 'equal',
      type: 'CustomerMessage',
      produced_by: 'external',
      moved: false,
      left: { id: ARTIFACT_EXAMPLE.id, created_at: '2026-11-20T10:00:00.000Z' },
      right: { id: '019a7f5f-0c1d-7c3a-9f63-5b1d2c4e6f80', created_at: '2026-11-20T10:01:00.000Z' },
      changes: [],
      changes_left_off: 0,
    },
    {
      result: 'changed',
      type: 'Intent',
      produced_by: 'classifier',
      moved: false,
      left: {
        id: PRODUCED_EXAMPLE.id,
        created_at: '2026-11-20T10:00:00.120Z',
        execution: execution('019a7f5e-0c9b-7d20-b1c5-3e4f5a6b7c80', 116),
      },
      right: {
        id: '019a7f5f-0c95-7e41-8a02-6c7d8e9f0a1b',
        created_at: '2026-11-20T10:01:00.095Z',
        execution: execution('019a7f5f-0c9b-7d20-b1c5-3e4f5a6b7c80', 91),
      },
      changes: [{ op: 'replace', path: '/confidence', left: '0.91', right: '0.42' }],
      changes_left_off: 0,
    },
  ],
  pagination: { limit: 100, after: null, next: null, has_more: false },
};
