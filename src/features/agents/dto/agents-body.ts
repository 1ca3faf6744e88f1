import { ApiProperty } from '@nestjs/swagger';

export class SubscriptionBody {
  @ApiProperty({ type: [String], description: 'Artifact types' })
  types!: string[];

  @ApiProperty({
    enum: ['all', 'any'],
    description: '`all` joins one artifact of every type; `any` takes each artifact alone',
  })
  mode!: 'all' | 'any';
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
      subscriptions: [{ types: ['CustomerMessage'], mode: 'all' }],
      outputs: ['Intent'],
      paused: false,
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
