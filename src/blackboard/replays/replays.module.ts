import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { CorrelationStateModule } from '../correlations/correlation-state.module.js';
import { PublishingModule } from '../publishing/publishing.module.js';
import { QueriesModule } from '../queries/queries.module.js';
import { SchedulingModule } from '../scheduling/scheduling.module.js';
import { Originals } from './originals.js';
import { RepeatedArtifacts } from './repeated-artifacts.js';
import { Replays } from './replays.js';

@Module({
  imports: [CorrelationStateModule, DatabaseModule, PublishingModule, QueriesModule, SchedulingModule],
  providers: [Originals, RepeatedArtifacts, Replays],
  exports: [Originals, Replays],
})
export class ReplaysModule {}
