import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { MatchingModule } from '../matching/matching.module.js';
import { LiveProcessesModule } from '../processes/live-processes.module.js';
import { QueriesModule } from '../queries/queries.module.js';
import { SchedulingModule } from '../scheduling/scheduling.module.js';
import { Explanations } from './explanations.js';
import { Records } from './records.repository.js';
import { RefusingErrors } from './refusing-errors.js';
import { Traces } from './traces.js';

@Module({
  imports: [DatabaseModule, LiveProcessesModule, MatchingModule, QueriesModule, SchedulingModule],
  providers: [Explanations, Records, RefusingErrors, Traces],
  exports: [Explanations, Traces],
})
export class ExplainModule {}
