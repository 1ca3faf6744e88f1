import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { ArtifactWritingModule } from '../artifacts/artifact-writing.module.js';
import { CorrelationStateModule } from '../correlations/correlation-state.module.js';
import { ExecutionModule } from '../execution/execution.module.js';
import { MatchingModule } from '../matching/matching.module.js';
import { PublishingModule } from '../publishing/publishing.module.js';
import { QueriesModule } from '../queries/queries.module.js';
import { SchedulingModule } from '../scheduling/scheduling.module.js';
import { Originals } from './originals.js';
import { RecordedAnswers } from './recorded-answers.js';
import { RecordedCopies } from './recorded-copies.js';
import { RecordedInputs } from './recorded-inputs.js';
import { RecordedReplays } from './recorded-replays.js';
import { Records } from './records.js';
import { RepeatedArtifacts } from './repeated-artifacts.js';
import { ReplayMemory } from './replay-memory.js';
import { Replays } from './replays.js';

@Module({
  imports: [
    ArtifactWritingModule,
    CorrelationStateModule,
    DatabaseModule,
    ExecutionModule,
    MatchingModule,
    PublishingModule,
    QueriesModule,
    SchedulingModule,
  ],
  providers: [
    Originals,
    RecordedAnswers,
    RecordedCopies,
    RecordedInputs,
    RecordedReplays,
    Records,
    RepeatedArtifacts,
    ReplayMemory,
    Replays,
  ],
  exports: [Originals, RecordedAnswers, Replays],
})
export class ReplaysModule {}
