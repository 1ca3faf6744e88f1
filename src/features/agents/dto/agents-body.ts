import { ApiProperty } from '@nestjs/swagger';

export class SubscriptionBody {
  @ApiProperty({ type: [String], description: 'Artifact types' })
  types!: string[];

  @ApiProperty({ enum: ['all', 'any'], description: 'One artifact of every type, joined; or each artifact on its own' })
  mode!: 'all' | 'any';
}

export class AgentBody {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  description!: string;

  @ApiProperty({ type: [SubscriptionBody] })
  subscriptions!: SubscriptionBody[];

  @ApiProperty({ type: [String], description: 'The artifact types that it publishes' })
  outputs!: string[];

  @ApiProperty({ description: 'True while its executions wait to be resumed' })
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
