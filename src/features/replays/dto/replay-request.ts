import type { ReplayMode } from '../../../database/schema.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { IsIn } from '../../../http/validation/class-validator.js';

export const MODES = ['full', 'recorded'] as const satisfies ReplayMode[];

/** Body of a replay. */
export class ReplayRequest {
  @ApiProperty({
    enum: MODES,
    description:
      '`full` runs every agent again, with all effects of a real run. `recorded` takes the answers of agents whose ' +
      'definition has not changed from the record, and runs the others and everything behind them; it sends no webhooks',
    example: 'full',
  })
  @IsIn(MODES, { message: `must be one of ${MODES.join(', ')}` })
  mode!: (typeof MODES)[number];
}

export const REPLAY_REQUEST_EXAMPLE: ReplayRequest = { mode: 'full' };
