import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { SignalsModule } from '../../pubsub/signals.module.js';
import { MatchingModule } from '../matching/matching.module.js';
import { DefinitionStore } from './definition-store.js';
import { Processes } from './processes.js';
import { SchedulerLocks } from './scheduler-locks.repository.js';

@Module({
  imports: [DatabaseModule, MatchingModule, SignalsModule],
  providers: [DefinitionStore, Processes, SchedulerLocks],
  exports: [DefinitionStore, Processes, SchedulerLocks],
})
export class LiveProcessesModule {}
