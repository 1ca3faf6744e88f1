import { MOST_COUNTED } from '../../../blackboard/limits/blocked-execution-rows.js';
import { ApiParam, ApiProperty } from '../../../http/openapi/documentation.js';

export const ApiLimitName = (): MethodDecorator =>
  ApiParam({
    name: 'limit_name',
    description: 'The name of a limit in the configuration file, or of one with values of a client',
    schema: { type: 'string', minLength: 1, example: 'openai' },
  });

export class LimitValuesBody {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Executions that may run at the same time, for each key',
  })
  concurrency!: number | null;

  @ApiProperty({ type: String, nullable: true, description: 'Attempts that may start in a time, for each key' })
  rate!: string | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Units of the rate that may start together' })
  burst!: number | null;
}

/** An agent that takes part in a limit. */
export class LimitedAgentBody {
  @ApiProperty()
  agent!: string;

  @ApiProperty({ type: String, nullable: true, description: 'CEL: its key. Null: all its executions share the limit' })
  key!: string | null;
}

/** An execution that waits for a limit. */
export class WaiterBody {
  @ApiProperty({ format: 'uuid' })
  execution_id!: string;

  @ApiProperty()
  agent!: string;

  @ApiProperty()
  correlation_id!: string;

  @ApiProperty({ format: 'date-time', description: 'When it was queued' })
  queued_at!: string;
}

export class LimitBody extends LimitValuesBody {
  @ApiProperty()
  name!: string;

  @ApiProperty({ type: String, nullable: true, description: 'CEL: what one attempt costs. Null: 1' })
  units!: string | null;

  @ApiProperty({
    description:
      'Whether an execution that has started counts for `concurrency` until it ends, also while it waits. It counts only while it runs otherwise',
  })
  hold!: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'date-time',
    description: 'When a client set these values. Null: they are those of the configuration file',
  })
  set_at!: string | null;

  @ApiProperty({
    type: LimitValuesBody,
    nullable: true,
    description:
      'The values of the configuration file of this process. Null if it no longer has the limit, which then limits nothing',
  })
  file!: LimitValuesBody | null;

  @ApiProperty({ type: [LimitedAgentBody], description: 'The agents of this process that take part in it' })
  agents!: LimitedAgentBody[];

  @ApiProperty({
    type: 'integer',
    description:
      'Executions that use it, of all keys: those that run, and with `hold` those that wait after their first start',
  })
  running!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Used units of the burst. Null for a limit without a rate, or with keys',
  })
  units_used!: number | null;

  @ApiProperty({
    type: 'integer',
    description: `Executions that wait for it, of all keys; at most ${MOST_COUNTED + 1} are counted`,
  })
  waiting!: number;

  @ApiProperty({
    type: WaiterBody,
    nullable: true,
    description: 'The one that was queued first, of those that are counted. Null if none waits',
  })
  longest!: WaiterBody | null;
}

export class LimitListBody {
  @ApiProperty({ type: [LimitBody] })
  items!: LimitBody[];
}

export const LIMIT_EXAMPLE: LimitBody = {
  name: 'openai',
  concurrency: 20,
  rate: '60/m',
  burst: 10,
  units: null,
  hold: false,
  set_at: '2026-11-20T10:00:00.120Z',
  file: { concurrency: 60, rate: '60/m', burst: 10 },
  agents: [{ agent: 'classifier', key: null }],
  running: 20,
  units_used: 7,
  waiting: 41,
  longest: {
    execution_id: '019a7f5e-0d52-7b1c-a5f0-6c2e8d9f1a40',
    agent: 'classifier',
    correlation_id: 'order-4711',
    queued_at: '2026-11-20T09:59:12.040Z',
  },
};
