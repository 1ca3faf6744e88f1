import { Module, type Type } from '@nestjs/common';

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
import { ReplaysModule } from '../replays/replays.module.js';
import { DueSchedulesModule } from '../schedules/due-schedules.module.js';
import { SchedulingModule } from '../scheduling/scheduling.module.js';
import type { Timer } from '../scheduling/timer-rows.js';
import { DueTimers } from './due-timers.js';
import { FailedTimers } from './failed-timers.js';
import { ArtifactRelease } from './handlers/artifact-release.js';
import { CorrelationDeadline } from './handlers/correlation-deadline.js';
import { ExecutionDueTime } from './handlers/execution-due-time.js';
import { ExecutionLimits } from './handlers/execution-limits.js';
import { GroupTimeLimit } from './handlers/group-time-limit.js';
import { JoinDecision } from './handlers/join-decision.js';
import { RecordedEnd } from './handlers/recorded-end.js';
import { RequestedCancel } from './handlers/requested-cancel.js';
import { ScheduleTick } from './handlers/schedule-tick.js';
import { ParkedTimers } from './parked-timers.js';
import { TIMER_HANDLERS, type TimerHandler } from './timer-handler.js';
import { TimerLoop } from './timer-loop.js';
import { TimerMemory } from './timer-memory.js';

/** A new kind of timer is a file in `handlers` and a line here. The kinds are those of the table `timers`. */
const HANDLERS: Record<Timer['kind'], Type<TimerHandler>> = {
  release: ArtifactRelease,
  judge: JoinDecision,
  close: GroupTimeLimit,
  deadline: CorrelationDeadline,
  due: ExecutionDueTime,
  tick: ScheduleTick,
  limits: ExecutionLimits,
  cancel: RequestedCancel,
  answer: RecordedEnd,
};

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
    ReplaysModule,
    DueSchedulesModule,
    SchedulingModule,
    SignalsModule,
  ],
  providers: [
    ...Object.values(HANDLERS),
    {
      provide: TIMER_HANDLERS,
      useFactory: (...handlers: TimerHandler[]) =>
        Object.fromEntries(Object.keys(HANDLERS).map((kind, index) => [kind, handlers[index]])),
      inject: Object.values(HANDLERS),
    },
    DueTimers,
    FailedTimers,
    ParkedTimers,
    TimerLoop,
    TimerMemory,
  ],
  exports: [ParkedTimers, TimerLoop],
})
export class TimersModule {}
