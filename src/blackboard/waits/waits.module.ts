import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { ExecutionModule } from '../execution/execution.module.js';
import { FairnessModule } from '../fairness/fairness.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { MatchingModule } from '../matching/matching.module.js';
import { LiveProcessesModule } from '../processes/live-processes.module.js';
import { SchedulingModule } from '../scheduling/scheduling.module.js';
import { CorrelationWaits } from './correlation-waits.js';
import { OpenExecutions } from './open-executions.js';
import { OpenGroups } from './open-groups.js';
import { UsedUpLimits } from './used-up-limits.js';
import { WaitingWork } from './waiting-work.js';

@Module({
  imports: [
    DatabaseModule,
    ExecutionModule,
    FairnessModule,
    LimitsModule,
    LiveProcessesModule,
    MatchingModule,
    SchedulingModule,
  ],
  providers: [CorrelationWaits, OpenExecutions, OpenGroups, UsedUpLimits, WaitingWork],
  exports: [CorrelationWaits, OpenGroups, UsedUpLimits, WaitingWork],
})
export class WaitsModule {}
