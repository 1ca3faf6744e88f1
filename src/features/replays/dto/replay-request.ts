import type { ReplayMode } from '../../../database/schema.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { IsIn } from '../../../http/validation/class-validator.js';

export const MODES = ['full'] as const satisfies ReplayMode[];

/** Body of a replay. */
export class ReplayRequest {
  @ApiProperty({
    enum: MODES,
    description: '`full` runs every agent again, with all effects of a real run',
    example: 'full',
  })
  @IsIn(MODES, { message: `must be one of ${MODES.join(', ')}` })
  mode!: (typeof MODES)[number];
}

export const REPLAY_REQUEST_EXAMPLE: ReplayRequest = { mode: 'full' };
