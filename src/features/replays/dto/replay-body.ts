import type { ReplayMode } from '../../../database/schema.js';
import { REPLAY_MODES } from '../../../http/dto/replay-modes.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';

export class ReplayBody {
  @ApiProperty({ format: 'uuid', description: 'The new correlation' })
  correlation_id!: string;

  @ApiProperty({ description: 'The correlation that it replays' })
  origin!: string;

  @ApiProperty({ enum: REPLAY_MODES })
  mode!: ReplayMode;

  @ApiProperty({ type: 'integer', description: 'How many artifacts of clients were published again' })
  published!: number;
}

export const REPLAY_EXAMPLE: ReplayBody = {
  correlation_id: '019a7f6b-2f0e-7a51-8d1c-9b0a6c5d4e3f',
  origin: 'order-4711',
  mode: 'full',
  published: 1,
};
