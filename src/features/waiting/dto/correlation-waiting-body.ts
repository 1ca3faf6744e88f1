import {
  EXECUTION_WAITS,
  TIMER_WAITS,
  type Wait,
  type WaitingExecution,
  type WaitingTimer,
  WAITS,
  type WaitsPage,
} from '../../../blackboard/waits/waits.js';
import type { CorrelationState } from '../../../database/schema.js';
import { NextPageBody } from '../../../http/dto/page.js';
import { namedSchema } from '../../../http/openapi/additions.js';
import { ApiExtraModels, ApiProperty, schemaPath } from '../../../http/openapi/documentation.js';
import { OpenGroupBody } from './waiting-group-body.js';

const CORRELATION_STATES = ['active', 'completed', 'failed', 'cancelled'] as const satisfies CorrelationState[];

/** An execution that has not ended. */
export class WaitingExecutionBody implements WaitingExecution {
  @ApiProperty({
    enum: EXECUTION_WAITS,
    description:
      '`running`: a process runs it. `held`: a client has claimed it, or a remote agent answers later. All others are ' +
      'pending. `retry`: until the time of its next attempt. `ready`: until a process claims it. `unclaimed`: until a ' +
      'client claims it. `concurrency`: as many executions of its agent run as may run. `slots`: each process with ' +
      'its agent runs as many executions as it may. `paused`: its agent is paused. `no_process`: no live process has ' +
      'its agent. `no_configuration`: no live process with its agent has the configuration of its replay, as it was when ' +
      'the replay began. `budget`: running model calls may use the rest of a budget. `limit`: until one of its limits has room, its turn by `singleton` has come, or its `breaker` lets it start.',
  })
  kind!: WaitingExecution['kind'];

  @ApiProperty({ format: 'uuid' })
  execution_id!: string;

  @ApiProperty()
  agent!: string;

  @ApiProperty({ type: 'integer', description: 'Number of the current or next attempt, from 1 in each round' })
  attempt!: number;

  @ApiProperty({
    format: 'date-time',
    description:
      'Start of the attempt while it runs or is held, end of the failed attempt before a retry, time of the pause if ' +
      'it came later; otherwise when the execution was created',
  })
  since!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Time of the next attempt of `retry`, end of the lease of `held`; otherwise null',
  })
  until!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'What is used of the limit or of the `concurrency` of its agent that it waits for, its place among those that wait for the same key, and when the rate has room',
    example: 'limit openai: 60 of 60 used, 3rd of 41 for customer 17, next in 0.8 s',
  })
  limit!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Assignee of an execution of an external agent' })
  assignee!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Name of the last claimant, as its claim gave it' })
  claimed_by!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When an execution of an external agent is escalated or fails, unless it ends before',
  })
  due_at!: string | null;
}

/** A timer of a correlation. */
export class WaitingTimerBody implements WaitingTimer {
  @ApiProperty({
    enum: TIMER_WAITS,
    description: '`release`: agents see a hidden artifact from then on. `deadline`: the correlation is cancelled then',
  })
  kind!: WaitingTimer['kind'];

  @ApiProperty({ type: String, format: 'uuid', nullable: true, description: 'The hidden artifact' })
  artifact_id!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Type of the hidden artifact' })
  artifact_type!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the hidden artifact was published; null for a deadline',
  })
  since!: string | null;

  @ApiProperty({ format: 'date-time' })
  until!: string;
}

const WAIT = namedSchema('WaitBody', {
  oneOf: [WaitingTimerBody, OpenGroupBody, WaitingExecutionBody].map((body) => ({ $ref: schemaPath(body) })),
});

@ApiExtraModels(WaitingExecutionBody, WaitingTimerBody)
export class CorrelationWaitingBody implements Omit<WaitsPage, 'next'> {
  @ApiProperty()
  correlation_id!: string;

  @ApiProperty({
    enum: CORRELATION_STATES,
    description: 'A correlation that is not `active` can only wait for joins and batch windows without a time limit',
  })
  state!: CorrelationState;

  @ApiProperty({
    type: 'object',
    properties: Object.fromEntries(WAITS.map((kind) => [kind, { type: 'integer' }])),
    required: [...WAITS],
    description: 'Number of all waits of each kind, on this page and on the others',
  })
  counts!: WaitsPage['counts'];

  @ApiProperty({
    type: 'array',
    items: WAIT,
    description: 'First the deadline, then releases by time, joins and batch windows, and executions, oldest first',
  })
  items!: Wait[];

  @ApiProperty()
  pagination!: NextPageBody;
}

export const CORRELATION_WAITING_EXAMPLE: CorrelationWaitingBody = {
  correlation_id: 'order-4711',
  state: 'active',
  counts: {
    release: 0,
    deadline: 0,
    join: 0,
    window: 0,
    running: 0,
    held: 0,
    retry: 1,
    ready: 0,
    unclaimed: 0,
    concurrency: 0,
    slots: 0,
    paused: 0,
    no_process: 0,
    no_configuration: 0,
    budget: 0,
    limit: 0,
  },
  items: [
    {
      kind: 'retry',
      execution_id: '019a7f5e-0c9b-7d20-b1c5-3e4f5a6b7c80',
      agent: 'classifier',
      attempt: 2,
      since: '2026-11-20T10:00:00.120Z',
      until: '2026-11-20T10:00:01.144Z',
      limit: null,
      assignee: null,
      claimed_by: null,
      due_at: null,
    },
  ],
  pagination: { limit: 50, after: null, next: null, has_more: false },
};
