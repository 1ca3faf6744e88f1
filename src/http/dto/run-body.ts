import { ApiProperty } from '@nestjs/swagger';
import type { JsonValue } from '../../common/json.js';
import { UsageBody } from './usage-body.js';

export const RUN_STATUSES = ['starting', 'running', 'completed', 'failed', 'cancelled'] as const;

export class RunBody {
  @ApiProperty({ description: "The run's id, and its correlation's" })
  run_id!: string;

  @ApiProperty({ enum: RUN_STATUSES, description: '`failed`: an execution of the cascade failed for good' })
  status!: (typeof RUN_STATUSES)[number];

  @ApiProperty({
    description:
      'Of a completed run: the payload of its final artifact; several: an object keyed by type name, a list where a type occurs more than once',
    type: 'object',
    additionalProperties: true,
    selfRequired: false,
  })
  result?: JsonValue;

  @ApiProperty({ type: String, format: 'date-time', required: false })
  started_at?: string;

  @ApiProperty({ type: String, format: 'date-time', required: false })
  completed_at?: string;

  @ApiProperty({ type: String, required: false, description: 'Of a failed run: the agent and the reason; of one that its deadline cancelled: when that was' })
  error?: string;

  @ApiProperty({ type: UsageBody, required: false, description: 'What its agents used of models, where they did' })
  usage?: UsageBody;
}

export const RUN_BODY_EXAMPLE: RunBody = {
  run_id: '019a7f5e-0b7a-7f20-8b1d-6c2d4e5f6a70',
  status: 'completed',
  result: { reply: 'Your card is on its way.' },
  started_at: '2026-11-20T10:00:00.004Z',
  completed_at: '2026-11-20T10:00:00.850Z',
};

export const CANCELLED_RUN_EXAMPLE: RunBody = {
  run_id: RUN_BODY_EXAMPLE.run_id,
  status: 'cancelled',
  started_at: '2026-11-20T10:00:00.004Z',
  completed_at: '2026-11-20T10:00:00.100Z',
};
