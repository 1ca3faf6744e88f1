import { Module } from '@nestjs/common';

import { DatabaseModule } from '../database/database.module.js';
import { SignalsModule } from '../pubsub/signals.module.js';
import { ArtifactWritingModule } from './artifacts/artifact-writing.module.js';
import { BlackboardLifecycle } from './blackboard-lifecycle.js';
import { BudgetsModule } from './budgets/budgets.module.js';
import { CorrelationStateModule } from './correlations/correlation-state.module.js';
import { ExecutionModule } from './execution/execution.module.js';
import { ExplainModule } from './explain/explain.module.js';
import { ExternalWorkModule } from './external/external-work.module.js';
import { Heartbeat } from './heartbeat.js';
import { JoinsModule } from './joins/joins.module.js';
import { LimitsModule } from './limits/limits.module.js';
import { MatchingModule } from './matching/matching.module.js';
import { OperationWorkModule } from './operations/operation-work.module.js';
import { PresenceModule } from './presence/presence.module.js';
import { LiveProcessesModule } from './processes/live-processes.module.js';
import { PublishingModule } from './publishing/publishing.module.js';
import { QueriesModule } from './queries/queries.module.js';
import { ReplaysModule } from './replays/replays.module.js';
import { RetentionModule } from './retention/retention.module.js';
import { DueSchedulesModule } from './schedules/due-schedules.module.js';
import { SchedulingModule } from './scheduling/scheduling.module.js';
import { TimersModule } from './timers/timers.module.js';
import { WaitsModule } from './waits/waits.module.js';
import { WorkerLoops } from './worker-loops.js';

@Module({
  imports: [
    ArtifactWritingModule,
    BudgetsModule,
    CorrelationStateModule,
    DatabaseModule,
    ExecutionModule,
    ExplainModule,
    ExternalWorkModule,
    JoinsModule,
    LimitsModule,
    LiveProcessesModule,
    MatchingModule,
    OperationWorkModule,
    PresenceModule,
    PublishingModule,
    QueriesModule,
    ReplaysModule,
    RetentionModule,
    DueSchedulesModule,
    SchedulingModule,
    SignalsModule,
    TimersModule,
    WaitsModule,
  ],
  providers: [BlackboardLifecycle, Heartbeat, WorkerLoops],
  exports: [
    ArtifactWritingModule,
    CorrelationStateModule,
    DatabaseModule,
    ExecutionModule,
    ExplainModule,
    ExternalWorkModule,
    JoinsModule,
    LimitsModule,
    LiveProcessesModule,
    OperationWorkModule,
    PresenceModule,
    PublishingModule,
    QueriesModule,
    ReplaysModule,
    RetentionModule,
    DueSchedulesModule,
    SchedulingModule,
    SignalsModule,
    WaitsModule,
  ],
})
export class BlackboardModule {}
