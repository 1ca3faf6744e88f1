import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { LiveProcessesModule } from '../processes/live-processes.module.js';
import { KeyShares } from './key-shares.js';
import { TurnWaits } from './turn-waits.repository.js';

@Module({
  imports: [DatabaseModule, LiveProcessesModule],
  providers: [KeyShares, TurnWaits],
  exports: [KeyShares, TurnWaits],
})
export class FairnessModule {}
