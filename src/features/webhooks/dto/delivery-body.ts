import { ApiProperty } from '../../../http/openapi/documentation.js';

export const DELIVERY_STATES = ['waiting', 'pending', 'running', 'delivered', 'dead'] as const;

/** The delivery of one artifact to one webhook. */
export class DeliveryBody {
  @ApiProperty({ description: 'Value of the header webhook-id, the same in every attempt' })
  delivery_id!: string;

  @ApiProperty({
    enum: DELIVERY_STATES,
    description: '`waiting`: earlier deliveries of the same correlation to the same target have not ended',
  })
  state!: (typeof DELIVERY_STATES)[number];

  @ApiProperty({ description: 'Id of the target, the same for equal URLs and secrets' })
  target_id!: string;

  @ApiProperty({ description: "Origin of the target's URL; the path is not shown, because it may be a secret" })
  target_origin!: string;

  @ApiProperty()
  correlation_id!: string;

  @ApiProperty({ format: 'uuid' })
  artifact_id!: string;

  @ApiProperty({ type: 'integer', description: "The artifact's number in its correlation, from 1" })
  sequence!: number;

  @ApiProperty({ type: 'integer', description: 'Number of the current, next or last attempt, from 1' })
  attempt!: number;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    required: false,
    description: 'When the next attempt may start, after a failure or while deliveries to its host are held back',
  })
  next_attempt_at?: string;

  @ApiProperty({ type: String, format: 'date-time', required: false })
  ended_at?: string;

  @ApiProperty({ type: 'integer', required: false, description: "HTTP status of the receiver's last response" })
  last_status?: number;

  @ApiProperty({ type: String, required: false, description: 'Why the last attempt failed, or why the next one waits' })
  last_error?: string;
}

export class AttemptBody {
  @ApiProperty({
    type: 'integer',
    description: 'Number of the attempt, from 1; it starts at 1 again when the delivery is sent again',
  })
  attempt!: number;

  @ApiProperty({ format: 'date-time' })
  started_at!: string;

  @ApiProperty({ type: 'integer' })
  duration_ms!: number;

  @ApiProperty({
    type: 'integer',
    required: false,
    description: 'HTTP status of the response; absent without a response',
  })
  status?: number;

  @ApiProperty({ type: String, required: false, description: 'Why it failed; absent if it succeeded' })
  error?: string;
}

export class DeliveryWithAttemptsBody extends DeliveryBody {
  @ApiProperty({ type: [AttemptBody], description: 'Attempts in the order in which they were made' })
  attempts!: AttemptBody[];
}

export const DELIVERY_EXAMPLE: DeliveryBody = {
  delivery_id: '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f81',
  state: 'dead',
  target_id: '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f70',
  target_origin: 'https://hooks.example.com',
  correlation_id: 'order-4711',
  artifact_id: '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80',
  sequence: 1,
  attempt: 1,
  created_at: '2026-11-20T10:00:00.000Z',
  ended_at: '2026-11-20T10:00:00.120Z',
  last_status: 410,
  last_error: 'hooks.example.com answered 410',
};

export const DELIVERY_WITH_ATTEMPTS_EXAMPLE: DeliveryWithAttemptsBody = {
  ...DELIVERY_EXAMPLE,
  attempts: [
    {
      attempt: 1,
      started_at: '2026-11-20T10:00:00.010Z',
      duration_ms: 110,
      status: 410,
      error: 'hooks.example.com answered 410',
    },
  ],
};

export const REDELIVERED_EXAMPLE: DeliveryWithAttemptsBody = (({ ended_at: _ended, ...delivery }) => ({
  ...delivery,
  state: 'pending' as const,
}))(DELIVERY_WITH_ATTEMPTS_EXAMPLE);
