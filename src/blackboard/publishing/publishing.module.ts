import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { ArtifactWritingModule } from '../artifacts/artifact-writing.module.js';
import { CorrelationStateModule } from '../correlations/correlation-state.module.js';
import { FairnessModule } from '../fairness/fairness.module.js';
import { JoinsModule } from '../joins/joins.module.js';
import { MatchingModule } from '../matching/matching.module.js';
import { LiveProcessesModule } from '../processes/live-processes.module.js';
import { QueriesModule } from '../queries/queries.module.js';
import { SchedulingModule } from '../scheduling/scheduling.module.js';
import { Admission } from './admission.js';
import { DirectRuns } from './direct-runs.js';
import { Drafts } from './drafts.js';
import { InlineRuns } from './inline-runs.js';
import { Invocations } from './invocations.js';
import { MatchedArtifacts } from './matched-artifacts.js';
import { Publisher } from './publisher.js';
import { Triggering } from './triggering.js';

@Module({
  imports: [
    ArtifactWritingModule,
    CorrelationStateModule,
    DatabaseModule,
    FairnessModule,
    JoinsModule,
    LiveProcessesModule,
    MatchingModule,
    QueriesModule,
    SchedulingModule,
  ],
  providers: [Admission, DirectRuns, Drafts, InlineRuns, Invocations, MatchedArtifacts, Publisher, Triggering],
  exports: [Admission, DirectRuns, Drafts, InlineRuns, Invocations, MatchedArtifacts, Publisher, Triggering],
})
export class PublishingModule {}
