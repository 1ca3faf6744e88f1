import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { SignalsModule } from '../../pubsub/signals.module.js';
import { CorrelationStateModule } from '../correlations/correlation-state.module.js';
import { ExecutionModule } from '../execution/execution.module.js';
import { ExternalWorkModule } from '../external/external-work.module.js';
import { JoinsModule } from '../joins/joins.module.js';
import { MatchingModule } from '../matching/matching.module.js';
import { LiveProcessesModule } from '../processes/live-processes.module.js';
import { PublishingModule } from '../publishing/publishing.module.js';
import { QueriesModule } from '../queries/queries.module.js';
import { SchedulingModule } from '../scheduling/scheduling.module.js';
import { ParkedTimers } from './parked-timers.js';
import { TimerLoop } from './timer-loop.js';
import { TimerMemory } from './timer-memory.js';

@Module({
  imports: [
    CorrelationStateModule,
    DatabaseModule,
    ExecutionModule,
    ExternalWorkModule,
    JoinsModule,
    LiveProcessesModule,
    MatchingModule,
    PublishingModule,
    QueriesModule,
    SchedulingModule,
    SignalsModule,
  ],
  providers: [ParkedTimers, TimerLoop, TimerMemory],
  exports: [ParkedTimers, TimerLoop],
})
export class TimersModule {}
