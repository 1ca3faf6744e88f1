import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module.js';
import { EnginesModule } from '../engines/engines.module.js';
import { ExpressionsModule } from '../expressions/expressions.module.js';
import { SignalsModule } from '../signals/signals.module.js';
import { ActivityFold } from './activity-fold.js';
import { ActivityTotals } from './activity-totals.js';
import { AgentHistory } from './agent-history.js';
import { AgentReaders } from './agent-reader.js';
import { ArtifactFold } from './artifact-fold.js';
import { ArtifactStore } from './artifact-store.js';
import { ArtifactTotals } from './artifact-totals.js';
import { ArtifactWriter } from './artifact-writer.js';
import { Backlog } from './backlog.js';
import { BatchWindows } from './batch-windows.js';
import { Blackboard } from './blackboard.js';
import { BlackboardService } from './blackboard.service.js';
import { Claims } from './claims.js';
import { CorrelationTracker } from './correlation-tracker.js';
import { CorrelationWaiters } from './correlation-waiters.js';
import { DirectRuns } from './direct-runs.js';
import { ExecutionQueue } from './execution-queue.js';
import { ExecutionRun } from './execution-run.js';
import { Executor } from './executor.js';
import { Folding } from './folding.js';
import { Joins } from './joins.js';
import { Leases } from './leases.js';
import { Matching } from './matching.js';
import { Outcomes } from './outcomes.js';
import { Publisher } from './publisher.js';
import { TimerLoop } from './timer-loop.js';
import { TimerQueue } from './timer-queue.js';
import { WaitingGroups } from './waiting-groups.js';
import { WorkflowErrors } from './workflow-errors.js';

@Module({
  imports: [DatabaseModule, EnginesModule, ExpressionsModule, SignalsModule],
  providers: [
    ActivityFold,
    ActivityTotals,
    AgentHistory,
    AgentReaders,
    ArtifactFold,
    ArtifactStore,
    ArtifactTotals,
    ArtifactWriter,
    Backlog,
    BatchWindows,
    Claims,
    CorrelationTracker,
    CorrelationWaiters,
    DirectRuns,
    ExecutionQueue,
    ExecutionRun,
    Executor,
    Folding,
    Joins,
    Leases,
    Matching,
    Outcomes,
    Publisher,
    TimerLoop,
    TimerQueue,
    WaitingGroups,
    WorkflowErrors,
    { provide: Blackboard, useClass: BlackboardService },
  ],
  exports: [ActivityTotals, AgentHistory, ArtifactStore, ArtifactTotals, Blackboard, DatabaseModule],
})
export class BlackboardModule {}
