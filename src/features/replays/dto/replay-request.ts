import type { JsonObject } from '../../../common/json.js';
import { LONGEST_CONFIGURATION_NAME } from '../../../config/setting-types.js';
import type { ReplayMode } from '../../../database/schema.js';
import { OVERRIDE_SCHEMA, OVERRIDES_EXAMPLE } from '../../../http/dto/override-schema.js';
import { REPLAY_MODES } from '../../../http/dto/replay-modes.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { IsIn, IsObject, IsString } from '../../../http/validation/class-validator.js';
import { IfGiven, Opaque } from '../../../http/validation/field-rules.js';

export const CONFIGURATION_RULE =
  'must be the name of a configuration that the operator gave at the start; a request cannot have the configuration itself';

/** They are stored with the replay. */
export const MOST_OVERRIDE_BYTES = 32_768;

/** Body of a replay. */
export class ReplayRequest {
  @ApiProperty({
    enum: REPLAY_MODES,
    description:
      '`full` runs every agent again, with all effects of a real run. `recorded` takes the answers of agents whose ' +
      'definition has not changed from the record, and runs the others and everything behind them; it sends no webhooks. `shadow` also asks models again, but calls ' +
      'nothing else outside: agents with effects answer from the record, or their branch ends with an error of type `shadow`',
    example: 'full',
  })
  @IsIn(REPLAY_MODES, { message: `must be one of ${REPLAY_MODES.join(', ')}` })
  mode!: ReplayMode;

  @ApiProperty({
    description:
      'Name of a configuration that the operator gave at the start (`replay_config`). Its agents have their engines and ' +
      'timeouts from it in this replay',
    required: false,
    minLength: 1,
    maxLength: LONGEST_CONFIGURATION_NAME,
    example: 'candidate',
  })
  @IfGiven()
  @IsString({ message: CONFIGURATION_RULE })
  configuration?: string;

  @ApiProperty({
    description:
      'Changes of the agents for this replay, by their names: `expression` of an expression agent; ' +
      '`instructions`, `temperature`, `max_output_tokens` and `model` of a language model. Everything else comes from ' +
      'the configuration, or from the one that `configuration` names. At most 32 KiB of JSON',
    type: 'object',
    additionalProperties: OVERRIDE_SCHEMA,
    selfRequired: false,
    example: OVERRIDES_EXAMPLE,
  })
  @IfGiven()
  @IsObject()
  @Opaque()
  overrides?: JsonObject;
}

export const REPLAY_REQUEST_EXAMPLE: ReplayRequest = { mode: 'full' };
