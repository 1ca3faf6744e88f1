import { ApiProperty, ApiPropertyOptional } from '../../../http/openapi/documentation.js';
import { AgentEngineBody, AgentOptionsBody, OPTIONS_EXAMPLE } from './agent-options-body.js';

export class BatchWindowBody {
  @ApiProperty({ type: 'integer', minimum: 1, description: 'Number of artifacts that close a window' })
  size!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Milliseconds after its first artifact that close it before that; null if nothing does',
  })
  timeout_ms!: number | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'CEL expression over one artifact: each key has its own window; null if one window takes all',
  })
  key!: string | null;
}

export class DebounceBody {
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'Milliseconds without another artifact after which it runs',
  })
  wait_ms!: number;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'Milliseconds after the first artifact when it runs at the latest',
  })
  at_most_ms!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'CEL expression over one artifact: the last one of each key runs; null if all have the same',
  })
  key!: string | null;
}

export class SubscriptionBody {
  @ApiProperty({ type: [String], description: 'Artifact types' })
  types!: string[];

  @ApiProperty({
    enum: ['all', 'any'],
    description: '`all` joins one artifact of every type; `any` takes each artifact alone',
  })
  mode!: 'all' | 'any';

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Executions with a higher priority run first. Null if an expression computes it for each execution',
  })
  priority!: number | null;

  @ApiPropertyOptional({ type: BatchWindowBody, description: 'Present if artifacts wait in batch windows' })
  window?: BatchWindowBody;

  @ApiPropertyOptional({ type: DebounceBody, description: 'Present if only the last of several artifacts runs' })
  debounce?: DebounceBody;
}

/** The option `breaker` of an agent, and its state. */
export class BreakerBody {
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'It opens when this many of the last `of` attempts have failed',
  })
  failures!: number;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'How many of the last attempts count' })
  of!: number;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'How many milliseconds no execution starts' })
  open_ms!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'CEL: each key has its own breaker. Null: all executions share one',
  })
  key!: string | null;

  @ApiProperty({
    type: 'integer',
    description:
      'How many keys have a breaker that is open, or lets one attempt at a time start; without a key, 0 or 1',
  })
  open!: number;
}

export class VariantBody {
  @ApiProperty()
  name!: string;

  @ApiProperty({ minimum: 0, maximum: 1, description: 'Its share of the correlations' })
  share!: number;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description:
      "When too many of its attempts had failed: since then the agent's own options are used instead. Null if it is used",
  })
  rolled_back_at!: string | null;
}

export class RollbackBody {
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'A variant is rolled back when this many of its last `of` attempts have failed',
  })
  failures!: number;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'How many of its last attempts count' })
  of!: number;
}

/** The options `variants` and `rollback` of an agent, and their state. */
export class VariantsBody {
  @ApiProperty({ type: [VariantBody], description: "The variants; all other correlations use the agent's own options" })
  items!: VariantBody[];

  @ApiProperty({ type: RollbackBody, nullable: true, description: 'Null if no variant is rolled back' })
  rollback!: RollbackBody | null;
}

export class AgentBody {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  description!: string;

  @ApiProperty({ type: [SubscriptionBody] })
  subscriptions!: SubscriptionBody[];

  @ApiProperty({ type: [String], description: 'Artifact types that the agent publishes' })
  outputs!: string[];

  @ApiProperty({ description: 'Whether the agent is paused: its executions wait until it is resumed' })
  paused!: boolean;

  @ApiProperty({
    type: 'integer',
    description:
      'How many of its executions wait for a free slot, a retry, a process with the agent, a claim, or until the agent ' +
      'is resumed. The count may be a moment old',
  })
  waiting!: number;

  @ApiPropertyOptional({ type: BreakerBody, description: 'Present if the agent has a breaker' })
  breaker?: BreakerBody;

  @ApiPropertyOptional({
    type: VariantsBody,
    description: 'Present if the agent has variants: other options of its engine for shares of the correlations',
  })
  variants?: VariantsBody;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Digest of its definition, see `/api/v1/definitions`; null if not known',
  })
  definition!: string | null;

  @ApiPropertyOptional({
    type: [String],
    description: 'Names of the configurations that replays may take this agent from; absent if there are none',
  })
  configurations?: string[];

  @ApiProperty({ description: 'How the agent works, without addresses, programs and secrets' })
  engine!: AgentEngineBody;

  @ApiProperty({ description: 'The options of its configuration, with the defaults filled in' })
  options!: AgentOptionsBody;
}

export class AgentsBody {
  @ApiProperty({ type: [AgentBody] })
  agents!: AgentBody[];
}

export const AGENTS_EXAMPLE: AgentsBody = {
  agents: [
    {
      name: 'classifier',
      description: 'Names the intent of a message',
      subscriptions: [{ types: ['CustomerMessage'], mode: 'all', priority: 0 }],
      outputs: ['Intent'],
      paused: false,
      waiting: 0,
      definition: `sha256:${'5'.repeat(64)}`,
      engine: { kind: 'llm', model: 'openai/gpt-5-mini' },
      options: OPTIONS_EXAMPLE,
    },
  ],
};

export class AgentNameBody {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  description!: string;
}

export class AgentNamesBody {
  @ApiProperty({ type: [AgentNameBody] })
  agents!: AgentNameBody[];
}

export const AGENT_NAMES_EXAMPLE: AgentNamesBody = {
  agents: [{ name: 'classifier', description: 'Names the intent of a message' }],
};
