import { Module } from '@nestjs/common';

import { DatabaseModule } from '../database/database.module.js';
import { LiveEvents } from './live-events.js';
import { Signals } from './signals.js';
import { StoredArtifacts } from './stored-artifacts.js';
import { StreamInterest } from './stream-interest.js';

@Module({
  imports: [DatabaseModule],
  providers: [LiveEvents, Signals, StoredArtifacts, StreamInterest],
  exports: [LiveEvents, Signals, StoredArtifacts, StreamInterest],
})
export class SignalsModule {}
