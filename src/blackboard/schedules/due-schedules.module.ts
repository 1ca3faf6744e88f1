import { Module } from '@nestjs/common';

import { ExpressionsModule } from '../../cel/expressions.module.js';
import { DatabaseModule } from '../../database/database.module.js';
import { CorrelationStateModule } from '../correlations/correlation-state.module.js';
import { ExecutionModule } from '../execution/execution.module.js';
import { JoinsModule } from '../joins/joins.module.js';
import { LiveProcessesModule } from '../processes/live-processes.module.js';
import { PublishingModule } from '../publishing/publishing.module.js';
import { SchedulingModule } from '../scheduling/scheduling.module.js';
import { ConfiguredSchedules } from './configured-schedules.js';
import { DueTicks } from './due-ticks.js';
import { ExtraTicks } from './extra-ticks.js';
import { Schedules } from './schedules.js';
import { StoredSchedules } from './stored-schedules.js';
import { TickPublisher } from './tick-publisher.js';

@Module({
  imports: [
    CorrelationStateModule,
    DatabaseModule,
    ExecutionModule,
    ExpressionsModule,
    JoinsModule,
    LiveProcessesModule,
    PublishingModule,
    SchedulingModule,
  ],
  providers: [ConfiguredSchedules, DueTicks, ExtraTicks, Schedules, StoredSchedules, TickPublisher],
  exports: [ConfiguredSchedules, DueTicks, ExtraTicks, Schedules],
})
export class DueSchedulesModule {}
