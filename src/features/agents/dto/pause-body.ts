import { ApiProperty } from '@nestjs/swagger';

/** Whether an agent's executions wait to be resumed. */
export class AgentPauseBody {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  paused!: boolean;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'Since when it is paused; null where it is not' })
  paused_at!: string | null;
}

export const PAUSED_EXAMPLE: AgentPauseBody = { name: 'classifier', paused: true, paused_at: '2026-11-20T10:00:00.000Z' };
export const RESUMED_EXAMPLE: AgentPauseBody = { name: 'classifier', paused: false, paused_at: null };
