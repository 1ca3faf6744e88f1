import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { SignalsModule } from '../../pubsub/signals.module.js';
import { JoinsModule } from '../joins/joins.module.js';
import { LiveProcessesModule } from '../processes/live-processes.module.js';
import { DueSchedulesModule } from '../schedules/due-schedules.module.js';
import { SchedulingModule } from '../scheduling/scheduling.module.js';
import { TimersModule } from '../timers/timers.module.js';
import { LackReport } from './lack-report.js';
import { Presence } from './presence.js';
import { WaitingForAgents } from './waiting-for-agents.js';

@Module({
  imports: [
    DatabaseModule,
    JoinsModule,
    LiveProcessesModule,
    DueSchedulesModule,
    SchedulingModule,
    SignalsModule,
    TimersModule,
  ],
  providers: [LackReport, Presence, WaitingForAgents],
  exports: [Presence, WaitingForAgents],
})
export class PresenceModule {}
