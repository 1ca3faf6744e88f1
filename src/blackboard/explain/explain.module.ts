import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { FairnessModule } from '../fairness/fairness.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { MatchingModule } from '../matching/matching.module.js';
import { LiveProcessesModule } from '../processes/live-processes.module.js';
import { QueriesModule } from '../queries/queries.module.js';
import { SchedulingModule } from '../scheduling/scheduling.module.js';
import { WaitsModule } from '../waits/waits.module.js';
import { CancelExplanations } from './cancel-explanations.js';
import { Explanations } from './explanations.js';
import { MatcherExplanations } from './matcher-explanations.js';
import { Records } from './records.repository.js';
import { RefusingErrors } from './refusing-errors.js';
import { StoredFacts } from './stored-facts.js';
import { Traces } from './traces.js';

@Module({
  imports: [
    DatabaseModule,
    FairnessModule,
    LimitsModule,
    LiveProcessesModule,
    MatchingModule,
    QueriesModule,
    SchedulingModule,
    WaitsModule,
  ],
  providers: [CancelExplanations, Explanations, MatcherExplanations, Records, RefusingErrors, StoredFacts, Traces],
  exports: [Explanations, Traces],
})
export class ExplainModule {}
