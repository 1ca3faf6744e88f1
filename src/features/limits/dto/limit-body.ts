import { ApiParam, ApiProperty } from '../../../http/openapi/documentation.js';

export const ApiLimitName = (): MethodDecorator =>
  ApiParam({
    name: 'limit_name',
    description: 'The name of a limit in the configuration file',
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

export class LimitBody extends LimitValuesBody {
  @ApiProperty()
  name!: string;

  @ApiProperty({ type: String, nullable: true, description: 'CEL: what one attempt costs. Null: 1' })
  units!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'date-time',
    description: 'When a client set these values. Null: they are those of the configuration file',
  })
  set_at!: string | null;

  @ApiProperty({ description: 'The values of the configuration file of this process' })
  file!: LimitValuesBody;

  @ApiProperty({ type: 'integer', description: 'Running executions that take part in it, of all keys' })
  running!: number;

  @ApiProperty({ type: 'integer', description: 'Executions that wait for it, of all keys; about 10,000 are counted' })
  waiting!: number;
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
  set_at: '2026-11-20T10:00:00.120Z',
  file: { concurrency: 60, rate: '60/m', burst: 10 },
  running: 20,
  waiting: 41,
};
