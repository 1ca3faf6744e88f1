import { ApiProperty } from '@nestjs/swagger';

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
