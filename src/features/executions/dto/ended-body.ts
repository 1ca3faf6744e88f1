import { ApiProperty } from '@nestjs/swagger';

import { IsShortText, SHORT_TEXT_SCHEMA } from '../../../http/validation/text-rules.js';

/** Body of a request to fail the waiting work of an agent that no process has. */
export class EndRequest {
  @ApiProperty({ description: 'The agent that no process has', ...SHORT_TEXT_SCHEMA, example: 'price' })
  @IsShortText()
  agent!: string;
}

export class EndedBody {
  @ApiProperty()
  agent!: string;

  @ApiProperty({ type: 'integer', description: 'Number of waiting executions that this request failed' })
  executions!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Number of waiting join groups and batch windows that this request dropped',
  })
  groups!: number;
}

export const END_EXAMPLE: EndRequest = { agent: 'price' };

export const ENDED_EXAMPLE: EndedBody = { agent: 'price', executions: 12, groups: 0 };
