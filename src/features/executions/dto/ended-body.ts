import { ApiProperty } from '@nestjs/swagger';
import { IsShortText, SHORT_TEXT_SCHEMA } from '../../../http/validation/is-short-text.js';

/** Body of a request to end what waits for an agent. */
export class EndRequest {
  @ApiProperty({ description: 'The agent that no process has', ...SHORT_TEXT_SCHEMA, example: 'price' })
  @IsShortText()
  agent!: string;
}

export class EndedBody {
  @ApiProperty()
  agent!: string;

  @ApiProperty({ type: 'integer', description: 'Executions that waited and have failed now' })
  executions!: number;

  @ApiProperty({ type: 'integer', description: 'Join groups and batch windows that waited and were dropped' })
  groups!: number;
}

export const END_EXAMPLE: EndRequest = { agent: 'price' };

export const ENDED_EXAMPLE: EndedBody = { agent: 'price', executions: 12, groups: 0 };
