import { ENGINE_KINDS } from '../../../engines/engine-registry.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';

export class AgentEngineBody {
  @ApiProperty({ enum: ENGINE_KINDS, description: '`provider` is an agent that is a class of the program' })
  kind!: string;

  @ApiProperty({ type: String, nullable: true, description: 'Provider and model of an `llm` engine; otherwise null' })
  model!: string | null;
}

export class AgentRetryBody {
  @ApiProperty({ type: 'integer', description: 'Number of attempts, including the first' })
  attempts!: number;

  @ApiProperty({ type: 'integer', description: 'Delay before the second attempt; it doubles with each further one' })
  delay_ms!: number;

  @ApiProperty({ type: 'integer', description: 'Upper limit of the delay' })
  max_delay_ms!: number;
}

export class AgentBudgetBody {
  @ApiProperty({ type: 'integer', nullable: true, description: 'Input and output tokens together; null for no limit' })
  tokens!: number | null;

  @ApiProperty({ type: Number, nullable: true, description: 'In the currency of the prices; null for no limit' })
  cost!: number | null;
}

export class AgentOptionsBody {
  @ApiProperty({
    type: 'integer',
    description: 'Time limit of one attempt; with an `external` engine, how long a claim holds without a heartbeat',
  })
  timeout_ms!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Executions that may run, or be claimed, at the same time, over all processes',
  })
  concurrency!: number;

  @ApiProperty()
  retry!: AgentRetryBody;

  @ApiProperty({ description: 'Maximum use of language models in one correlation' })
  budget!: AgentBudgetBody;

  @ApiProperty({ type: [String], description: 'Labels that `Labelled` visibility checks' })
  labels!: string[];

  @ApiProperty({ type: String, nullable: true, description: 'The tenant that it belongs to, for `Tenant` visibility' })
  tenant_id!: string | null;
}

export const OPTIONS_EXAMPLE: AgentOptionsBody = {
  timeout_ms: 30_000,
  concurrency: 4,
  retry: { attempts: 3, delay_ms: 1_000, max_delay_ms: 60_000 },
  budget: { tokens: 20_000, cost: null },
  labels: ['pii'],
  tenant_id: null,
};
