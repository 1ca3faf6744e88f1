import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { SignalsModule } from '../../pubsub/signals.module.js';
import { MatchingModule } from '../matching/matching.module.js';
import { Processes } from './processes.js';

@Module({
  imports: [DatabaseModule, MatchingModule, SignalsModule],
  providers: [Processes],
  exports: [Processes],
})
export class LiveProcessesModule {}
