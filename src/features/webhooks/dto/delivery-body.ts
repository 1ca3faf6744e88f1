import { ApiProperty } from '@nestjs/swagger';

export const DELIVERY_STATES = ['waiting', 'pending', 'running', 'delivered', 'dead'] as const;

/** A webhook that is owed for an artifact. */
export class DeliveryBody {
  @ApiProperty({ description: 'The same as the header webhook-id, on every try' })
  delivery_id!: string;

  @ApiProperty({ enum: DELIVERY_STATES, description: 'waiting: for those before it in the same correlation, to the same target' })
  state!: (typeof DELIVERY_STATES)[number];

  @ApiProperty({ description: 'Where it goes: equal for equal URLs and secrets' })
  target_id!: string;

  @ApiProperty({ description: "Of the target's URL; its path may be a secret, and is not shown" })
  target_origin!: string;

  @ApiProperty()
  correlation_id!: string;

  @ApiProperty({ format: 'uuid' })
  artifact_id!: string;

  @ApiProperty({ type: 'integer', description: "The artifact's number in its correlation, from 1" })
  sequence!: number;

  @ApiProperty({ type: 'integer', description: 'The try that runs or comes next, from 1; the last one where it has ended' })
  attempt!: number;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ type: String, format: 'date-time', required: false, description: 'When it may be tried next, where it is tried again or its host is sent no more for now' })
  next_attempt_at?: string;

  @ApiProperty({ type: String, format: 'date-time', required: false })
  ended_at?: string;

  @ApiProperty({ type: 'integer', required: false, description: "HTTP status of the receiver's last answer" })
  last_status?: number;

  @ApiProperty({ type: String, required: false, description: 'Why the last try failed, or why the next one waits' })
  last_error?: string;
}

export class AttemptBody {
  @ApiProperty({ type: 'integer', description: 'From 1, and again from 1 where it was sent again by hand' })
  attempt!: number;

  @ApiProperty({ format: 'date-time' })
  started_at!: string;

  @ApiProperty({ type: 'integer' })
  duration_ms!: number;

  @ApiProperty({ type: 'integer', required: false, description: 'HTTP status of the answer, where one came' })
  status?: number;

  @ApiProperty({ type: String, required: false, description: 'Why it failed' })
  error?: string;
}

export class DeliveryWithAttemptsBody extends DeliveryBody {
  @ApiProperty({ type: [AttemptBody], description: 'In the order in which they were made' })
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
  attempts: [{ attempt: 1, started_at: '2026-11-20T10:00:00.010Z', duration_ms: 110, status: 410, error: 'hooks.example.com answered 410' }],
};

export const REDELIVERED_EXAMPLE: DeliveryWithAttemptsBody = (({ ended_at: _ended, ...delivery }) => ({ ...delivery, state: 'pending' as const }))(
  DELIVERY_WITH_ATTEMPTS_EXAMPLE,
);
