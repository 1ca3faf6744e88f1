import type { JsonObject } from '../../../common/json.js';
import { MAX_SHORT_TEXT } from '../../../common/short-text.js';
import { Deadline } from '../../../http/dto/deadline.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { IsBoolean, IsObject, IsString, MaxLength } from '../../../http/validation/class-validator.js';
import { IfGiven, IgnoresUnknownFields, Opaque } from '../../../http/validation/field-rules.js';

/** Body of a run. */
@IgnoresUnknownFields()
export class RunRequest {
  @ApiProperty({
    description: 'Name of the agent that starts the workflow',
    maxLength: MAX_SHORT_TEXT,
    example: 'classifier',
  })
  @IsString()
  @MaxLength(MAX_SHORT_TEXT)
  agent_name!: string;

  @ApiProperty({
    description:
      'Input of the agent, which must fit one of its subscriptions: the payload if that has one type, an object ' +
      'keyed by type name if it has several. `{}` if absent',
    type: 'object',
    additionalProperties: true,
    selfRequired: false,
    example: { text: 'My card has not arrived yet' },
  })
  @IfGiven()
  @IsObject()
  @Opaque()
  inputs?: JsonObject;

  @ApiProperty({
    description: 'Whether to answer immediately and run in the background',
    type: Boolean,
    required: false,
    default: false,
    example: false,
  })
  @IfGiven()
  @IsBoolean()
  async_run?: boolean;

  @Deadline()
  deadline?: string;
}

export const RUN_REQUEST_BODY_EXAMPLE = { agent_name: 'classifier', inputs: { text: 'My card has not arrived yet' } };
