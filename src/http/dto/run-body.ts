import type { JsonValue } from '../../common/json.js';
import { ApiProperty } from '../openapi/documentation.js';
import { UsageBody } from './usage-body.js';

export const RUN_STATUSES = ['starting', 'running', 'completed', 'failed', 'cancelled'] as const;

export class RunBody {
  @ApiProperty({ description: 'Id of the run and of its correlation' })
  run_id!: string;

  @ApiProperty({ enum: RUN_STATUSES, description: '`failed`: an execution of the cascade failed permanently' })
  status!: (typeof RUN_STATUSES)[number];

  @ApiProperty({
    description:
      'Only for a completed run. The payload of its final artifact; if there are several, an object keyed by type name, with a list if a type occurs more than once.',
    type: 'object',
    additionalProperties: true,
    selfRequired: false,
  })
  result?: JsonValue;

  @ApiProperty({ type: String, format: 'date-time', required: false })
  started_at?: string;

  @ApiProperty({ type: String, format: 'date-time', required: false })
  completed_at?: string;

  @ApiProperty({
    type: String,
    required: false,
    description: 'For a failed run, the agent and the reason; for a run that its deadline cancelled, the time',
  })
  error?: string;

  @ApiProperty({
    type: UsageBody,
    required: false,
    description: 'Model usage of its agents; absent if they used no models',
  })
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
