import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { SignalsModule } from '../../pubsub/signals.module.js';
import { ArtifactWritingModule } from '../artifacts/artifact-writing.module.js';
import { CorrelationStateModule } from '../correlations/correlation-state.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { MatchingModule } from '../matching/matching.module.js';
import { LiveProcessesModule } from '../processes/live-processes.module.js';
import { AgentPauses } from './agent-pauses.js';
import { Backlog } from './backlog.js';
import { CancelRequests } from './cancel-requests.js';
import { Deadlines } from './deadlines.js';
import { ExecutionQueue } from './execution-queue.js';
import { ExecutionsWithoutAgent } from './executions-without-agent.js';
import { ExecutionsWithoutConfiguration } from './executions-without-configuration.js';
import { GenerationLimit } from './generation-limit.js';
import { ImmediateStarts } from './immediate-starts.js';
import { Singletons } from './singletons.js';
import { TimerQueue } from './timer-queue.js';
import { WaitingArrivals } from './waiting-arrivals.js';
import { WaitingCounts } from './waiting-counts.js';
import { WorkflowErrors } from './workflow-errors.js';

@Module({
  imports: [
    ArtifactWritingModule,
    CorrelationStateModule,
    DatabaseModule,
    LimitsModule,
    LiveProcessesModule,
    MatchingModule,
    SignalsModule,
  ],
  providers: [
    AgentPauses,
    Backlog,
    CancelRequests,
    Deadlines,
    ExecutionQueue,
    ExecutionsWithoutAgent,
    ExecutionsWithoutConfiguration,
    GenerationLimit,
    ImmediateStarts,
    Singletons,
    TimerQueue,
    WaitingArrivals,
    WaitingCounts,
    WorkflowErrors,
  ],
  exports: [
    AgentPauses,
    Backlog,
    CancelRequests,
    Deadlines,
    ExecutionQueue,
    ExecutionsWithoutAgent,
    ExecutionsWithoutConfiguration,
    ImmediateStarts,
    Singletons,
    TimerQueue,
    WaitingArrivals,
    WaitingCounts,
    WorkflowErrors,
  ],
})
export class SchedulingModule {}
