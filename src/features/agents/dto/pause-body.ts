import { ApiProperty } from '../../../http/openapi/documentation.js';

/** An agent's pause state. The executions of a paused agent wait until it is resumed. */
export class AgentPauseBody {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  paused!: boolean;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the agent was paused; null if it is not paused',
  })
  paused_at!: string | null;
}

export const PAUSED_EXAMPLE: AgentPauseBody = {
  name: 'classifier',
  paused: true,
  paused_at: '2026-11-20T10:00:00.000Z',
};
export const RESUMED_EXAMPLE: AgentPauseBody = { name: 'classifier', paused: false, paused_at: null };
