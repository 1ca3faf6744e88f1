import type { OriginKind } from '../../../blackboard/correlations/replay-options.js';
import type { Overrides } from '../../../catalog/overrides.js';
import type { ReplayMode } from '../../../database/schema.js';
import { OVERRIDE_SCHEMA, OVERRIDES_EXAMPLE } from '../../../http/dto/override-schema.js';
import { REPLAY_MODES } from '../../../http/dto/replay-modes.js';
import { UsageBody } from '../../../http/dto/usage-body.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';

const ORIGIN_KINDS = ['correlation', 'experiment'] as const satisfies OriginKind[];
const STATES = ['active', 'completed', 'failed', 'cancelled', 'not_found'] as const;

export class CorrelationStatusBody {
  @ApiProperty()
  correlation_id!: string;

  @ApiProperty({
    required: false,
    description: 'The correlation that it replays, or the experiment that runs it; absent if it is neither',
  })
  origin?: string;

  @ApiProperty({
    required: false,
    enum: ORIGIN_KINDS,
    description: 'The kind of `origin`; absent without one, and in lists',
  })
  origin_kind?: OriginKind;

  @ApiProperty({ required: false, enum: REPLAY_MODES, description: 'Absent if it is not a replay' })
  replay_mode?: ReplayMode;

  @ApiProperty({
    required: false,
    description: 'The configuration that this replay takes agents from; absent if it names none, and in lists',
  })
  configuration?: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: OVERRIDE_SCHEMA,
    selfRequired: false,
    description: 'Changes of the agents for this replay, by their names; absent if nothing is overridden, and in lists',
    example: OVERRIDES_EXAMPLE,
  })
  overrides?: Overrides;

  @ApiProperty({ enum: STATES, description: '`failed` means that it has ended and agents produced nothing but errors' })
  state!: (typeof STATES)[number];

  @ApiProperty({ description: 'Whether anything in the correlation is pending, running or waiting for a timer' })
  has_pending_work!: boolean;

  @ApiProperty({ type: 'integer', description: 'Number of artifacts, including those that clients published' })
  artifact_count!: number;

  @ApiProperty({ type: 'integer', description: 'Number of WorkflowError artifacts' })
  error_count!: number;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  started_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  last_activity_at!: string | null;

  @ApiProperty({
    type: [String],
    required: false,
    description:
      'The agents that the correlation waits for because no process has them, or has the subscription. It continues ' +
      'when a process has them',
  })
  waiting_for_agents?: string[];

  @ApiProperty({
    type: UsageBody,
    required: false,
    description: 'Model usage of its agents; absent if they used no model',
  })
  usage?: UsageBody;
}

export const STATUS_EXAMPLE: CorrelationStatusBody = {
  correlation_id: 'order-4711',
  state: 'completed',
  has_pending_work: false,
  artifact_count: 4,
  error_count: 0,
  started_at: '2026-11-20T10:00:00.000Z',
  last_activity_at: '2026-11-20T10:00:00.850Z',
};
