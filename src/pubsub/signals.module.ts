import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module.js';
import { Notices } from './notices.js';
import { Signals } from './signals.js';
import { StoredArtifacts } from './stored-artifacts.js';
import { StreamInterest } from './stream-interest.js';

@Module({
  imports: [DatabaseModule],
  providers: [Notices, Signals, StoredArtifacts, StreamInterest],
  exports: [Notices, Signals, StoredArtifacts, StreamInterest],
})
export class SignalsModule {}
