import { Module } from '@nestjs/common';

import { DatabaseModule } from '../database/database.module.js';
import { SignalsModule } from '../pubsub/signals.module.js';
import { AgentRemoval } from './agent-removal.js';
import { ArtifactWritingModule } from './artifacts/artifact-writing.module.js';
import { BlackboardService } from './blackboard.service.js';
import { BudgetsModule } from './budgets/budgets.module.js';
import { CorrelationStateModule } from './correlations/correlation-state.module.js';
import { ExecutionModule } from './execution/execution.module.js';
import { ExplainModule } from './explain/explain.module.js';
import { ExternalWorkModule } from './external/external-work.module.js';
import { FailedExecutions } from './failed-executions.js';
import { JoinsModule } from './joins/joins.module.js';
import { MatchingModule } from './matching/matching.module.js';
import { PresenceModule } from './presence/presence.module.js';
import { LiveProcessesModule } from './processes/live-processes.module.js';
import { Blackboard } from './publishing/blackboard.js';
import { PublishingModule } from './publishing/publishing.module.js';
import { QueriesModule } from './queries/queries.module.js';
import { RetentionModule } from './retention/retention.module.js';
import { SchedulingModule } from './scheduling/scheduling.module.js';
import { TimersModule } from './timers/timers.module.js';

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
    LiveProcessesModule,
    MatchingModule,
    PresenceModule,
    PublishingModule,
    QueriesModule,
    RetentionModule,
    SchedulingModule,
    SignalsModule,
    TimersModule,
  ],
  providers: [AgentRemoval, FailedExecutions, { provide: Blackboard, useClass: BlackboardService }],
  exports: [
    Blackboard,
    CorrelationStateModule,
    DatabaseModule,
    ExecutionModule,
    ExplainModule,
    ExternalWorkModule,
    JoinsModule,
    LiveProcessesModule,
    PresenceModule,
    QueriesModule,
    RetentionModule,
    SchedulingModule,
    SignalsModule,
  ],
})
export class BlackboardModule {}
