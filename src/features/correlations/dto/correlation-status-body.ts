import { ApiProperty } from '@nestjs/swagger';
import { UsageBody } from '../../../http/dto/usage-body.js';

const STATES = ['active', 'completed', 'failed', 'cancelled', 'not_found'] as const;

export class CorrelationStatusBody {
  @ApiProperty()
  correlation_id!: string;

  @ApiProperty({ enum: STATES, description: '`failed`: it has ended, with errors, and agents produced nothing else' })
  state!: (typeof STATES)[number];

  @ApiProperty({ description: 'Whether anything of it is pending, running or on a timer' })
  has_pending_work!: boolean;

  @ApiProperty({ type: 'integer', description: 'What was published into it included' })
  artifact_count!: number;

  @ApiProperty({ type: 'integer', description: 'Its WorkflowError artifacts' })
  error_count!: number;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  started_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  last_activity_at!: string | null;

  @ApiProperty({
    type: [String],
    required: false,
    description: 'Where it waits for agents that no process has, or for subscriptions of theirs: these agents. It goes on when a process has them',
  })
  waiting_for_agents?: string[];

  @ApiProperty({ type: UsageBody, required: false, description: 'What its agents used of models, where they did' })
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
