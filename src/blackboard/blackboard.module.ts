import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module.js';
import { EnginesModule } from '../engines/engines.module.js';
import { ExpressionsModule } from '../expressions/expressions.module.js';
import { SignalsModule } from '../signals/signals.module.js';
import { ActivityFold } from './queries/activity-fold.js';
import { ActivityTotals } from './queries/activity-totals.js';
import { AgentHistory } from './queries/agent-history.js';
import { AgentLimits } from './executor/agent-limits.js';
import { AgentPauses } from './executor/agent-pauses.js';
import { AgentRemoval } from './agent-removal.js';
import { AgentReaders } from './queries/agent-reader.js';
import { AnswerMemory } from './executor/answer-memory.js';
import { Answers } from './executor/answers.js';
import { ArtifactDeletion } from './retention/artifact-deletion.js';
import { ArtifactFold } from './queries/artifact-fold.js';
import { ArtifactStore } from './queries/artifact-store.js';
import { ArtifactTotals } from './queries/artifact-totals.js';
import { StoredTexts } from './queries/stored-texts.js';
import { ChangelogStore } from './queries/changelog-store.js';
import { ArtifactWriter } from './artifact-writer.js';
import { ArtifactsPublished } from './artifacts-published.js';
import { AttemptReports } from './executor/attempt-reports.js';
import { Backlog } from './executor/backlog.js';
import { BatchWindows } from './waiting/batch-windows.js';
import { Blackboard } from './blackboard.js';
import { BlackboardService } from './blackboard.service.js';
import { BudgetWaiters } from './executor/budget-waiters.js';
import { Budgets } from './executor/budgets.js';
import { Claims } from './executor/claims.js';
import { Cancellation } from './cancellation.js';
import { CorrelationSettled } from './correlation-settled.js';
import { CorrelationTracker } from './correlation-tracker.js';
import { CorrelationWaiters } from './correlation-waiters.js';
import { Deadlines } from './deadlines.js';
import { DirectRuns } from './direct-runs.js';
import { DueTimes } from './external/due-times.js';
import { ExternalClaims } from './external/external-claims.js';
import { ExternalLeases } from './external/external-leases.js';
import { OpenExternalWork } from './external/open-external-work.js';
import { WaitingClaims } from './external/waiting-claims.js';
import { Explanations } from './explaining/explanations.js';
import { Traces } from './explaining/traces.js';
import { Records } from './explaining/records.js';
import { RefusingErrors } from './explaining/refusing-errors.js';
import { ExecutionDeletion } from './retention/execution-deletion.js';
import { ExecutionQueue } from './executor/execution-queue.js';
import { ExecutionRun } from './executor/execution-run.js';
import { ExecutionsWithoutAgent } from './executor/executions-without-agent.js';
import { Executor } from './executor/executor.js';
import { Retention } from './retention/retention.js';
import { RunningExecutions } from './executor/running-executions.js';
import { FailedExecutions } from './failed-executions.js';
import { Folding } from './queries/folding.js';
import { GroupErrors } from './waiting/group-errors.js';
import { GroupsWithoutSubscription } from './waiting/groups-without-subscription.js';
import { Joins } from './waiting/joins.js';
import { LackReport } from './processes/lack-report.js';
import { LeaseWatch } from './executor/lease-watch.js';
import { Leases } from './executor/leases.js';
import { InputMemory } from './executor/input-memory.js';
import { InputParsing } from './executor/input-parsing.js';
import { Invocations } from './invocations.js';
import { Matching } from './matching.js';
import { ModelCalls } from './executor/model-calls.js';
import { Outcomes } from './executor/outcomes.js';
import { ParkedTimers } from './waiting/parked-timers.js';
import { Presence } from './processes/presence.js';
import { Processes } from './processes/processes.js';
import { Publisher } from './publisher.js';
import { SettledCorrelations } from './retention/settled-correlations.js';
import { SubscriptionNumbers } from './waiting/subscription-numbers.js';
import { TimerMemory } from './waiting/timer-memory.js';
import { TimerLoop } from './waiting/timer-loop.js';
import { TimerQueue } from './waiting/timer-queue.js';
import { Turns } from './retention/turns.js';
import { Reservations } from './executor/reservations.js';
import { Usages } from './executor/usages.js';
import { WaitingArrivals } from './waiting/waiting-arrivals.js';
import { WaitingGroups } from './waiting/waiting-groups.js';
import { WaitingForAgents } from './processes/waiting-for-agents.js';
import { Withdrawal } from './waiting/withdrawal.js';
import { WorkflowErrors } from './workflow-errors.js';

@Module({
  imports: [DatabaseModule, EnginesModule, ExpressionsModule, SignalsModule],
  providers: [
    ActivityFold,
    ActivityTotals,
    AgentHistory,
    AgentLimits,
    AgentPauses,
    AgentReaders,
    AgentRemoval,
    AnswerMemory,
    Answers,
    ArtifactDeletion,
    ArtifactFold,
    ArtifactStore,
    ArtifactTotals,
    ArtifactWriter,
    ArtifactsPublished,
    AttemptReports,
    Backlog,
    BatchWindows,
    Cancellation,
    ChangelogStore,
    BudgetWaiters,
    Budgets,
    Claims,
    CorrelationSettled,
    CorrelationTracker,
    CorrelationWaiters,
    Deadlines,
    DirectRuns,
    DueTimes,
    ExecutionDeletion,
    ExecutionQueue,
    ExecutionRun,
    ExecutionsWithoutAgent,
    Executor,
    Explanations,
    ExternalClaims,
    ExternalLeases,
    OpenExternalWork,
    FailedExecutions,
    Folding,
    GroupErrors,
    GroupsWithoutSubscription,
    InputMemory,
    InputParsing,
    Invocations,
    Joins,
    LackReport,
    LeaseWatch,
    Leases,
    Matching,
    ModelCalls,
    Outcomes,
    ParkedTimers,
    Presence,
    Processes,
    Publisher,
    Records,
    RefusingErrors,
    Retention,
    RunningExecutions,
    SettledCorrelations,
    StoredTexts,
    SubscriptionNumbers,
    TimerLoop,
    TimerMemory,
    TimerQueue,
    Traces,
    Turns,
    Reservations,
    Usages,
    WaitingArrivals,
    WaitingClaims,
    WaitingForAgents,
    WaitingGroups,
    Withdrawal,
    WorkflowErrors,
    { provide: Blackboard, useClass: BlackboardService },
  ],
  exports: [
    ActivityTotals,
    AgentHistory,
    ArtifactStore,
    ArtifactTotals,
    ArtifactsPublished,
    Blackboard,
    ChangelogStore,
    CorrelationSettled,
    DatabaseModule,
    Explanations,
    ExternalClaims,
    ExecutionsWithoutAgent,
    ExternalLeases,
    GroupsWithoutSubscription,
    InputMemory,
    OpenExternalWork,
    Processes,
    Retention,
    SettledCorrelations,
    SignalsModule,
    StoredTexts,
    Traces,
    WaitingClaims,
    WaitingForAgents,
  ],
})
export class BlackboardModule {}
