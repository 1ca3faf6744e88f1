import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module.js';
import { EnginesModule } from '../engines/engines.module.js';
import { ExpressionsModule } from '../cel/sandbox/expressions.module.js';
import { SignalsModule } from '../pubsub/signals.module.js';
import { ActivityFold } from './queries/activity-fold.js';
import { ActivityTotals } from './queries/activity-totals.js';
import { AgentHistory } from './queries/agent-history.js';
import { AgentLimits } from './execution/agent-limits.js';
import { AgentPauses } from './execution/agent-pauses.js';
import { AgentRemoval } from './agent-removal.js';
import { AgentReaders } from './queries/agent-reader.js';
import { AnswerMemory } from './execution/answer-memory.js';
import { Answers } from './execution/answers.js';
import { ArtifactDeletion } from './retention/artifact-deletion.js';
import { ArtifactFold } from './queries/artifact-fold.js';
import { ArtifactStore } from './queries/artifact-store.js';
import { ArtifactTotals } from './queries/artifact-totals.js';
import { StoredTexts } from './queries/stored-texts.js';
import { ChangelogStore } from './queries/changelog-store.js';
import { ArtifactWriter } from './artifacts/artifact-writer.js';
import { ArtifactsPublished } from './correlations/artifacts-published.js';
import { AttemptReports } from './execution/attempt-reports.js';
import { Backlog } from './scheduling/backlog.js';
import { BatchWindows } from './joins/batch-windows.js';
import { Blackboard } from './publishing/blackboard.js';
import { BlackboardService } from './blackboard.service.js';
import { BudgetWaiters } from './budgets/budget-waiters.js';
import { Budgets } from './budgets/budgets.js';
import { Claims } from './execution/claims.js';
import { Cancellation } from './execution/cancellation.js';
import { CorrelationSettled } from './correlations/correlation-settled.js';
import { CorrelationTracker } from './correlations/correlation-tracker.js';
import { CorrelationWaiters } from './correlations/correlation-waiters.js';
import { Deadlines } from './scheduling/deadlines.js';
import { DirectRuns } from './publishing/direct-runs.js';
import { DueTimes } from './external/due-times.js';
import { ExternalClaims } from './external/external-claims.js';
import { ExternalLeases } from './external/external-leases.js';
import { OpenExternalWork } from './external/open-external-work.js';
import { WaitingClaims } from './external/waiting-claims.js';
import { Explanations } from './explain/explanations.js';
import { Traces } from './explain/traces.js';
import { Records } from './explain/records.js';
import { RefusingErrors } from './explain/refusing-errors.js';
import { ExecutionDeletion } from './retention/execution-deletion.js';
import { ExecutionQueue } from './scheduling/execution-queue.js';
import { ExecutionRun } from './execution/execution-run.js';
import { ExecutionsWithoutAgent } from './scheduling/executions-without-agent.js';
import { Executor } from './execution/executor.js';
import { Retention } from './retention/retention.js';
import { RunningExecutions } from './execution/running-executions.js';
import { FailedExecutions } from './failed-executions.js';
import { Folding } from './queries/folding.js';
import { GroupErrors } from './joins/group-errors.js';
import { GroupsWithoutSubscription } from './joins/groups-without-subscription.js';
import { Joins } from './joins/joins.js';
import { LackReport } from './presence/lack-report.js';
import { LeaseWatch } from './execution/lease-watch.js';
import { Leases } from './execution/leases.js';
import { InputMemory } from './execution/input-memory.js';
import { InputParsing } from './execution/input-parsing.js';
import { Invocations } from './publishing/invocations.js';
import { Matching } from './matching/matching.js';
import { ModelCalls } from './budgets/model-calls.js';
import { Outcomes } from './execution/outcomes.js';
import { ParkedTimers } from './timers/parked-timers.js';
import { Presence } from './presence/presence.js';
import { Processes } from './processes/processes.js';
import { Publisher } from './publishing/publisher.js';
import { SettledCorrelations } from './retention/settled-correlations.js';
import { SubscriptionNumbers } from './matching/subscription-numbers.js';
import { TimerMemory } from './timers/timer-memory.js';
import { TimerLoop } from './timers/timer-loop.js';
import { TimerQueue } from './scheduling/timer-queue.js';
import { Turns } from './retention/turns.js';
import { Reservations } from './budgets/reservations.js';
import { Usages } from './budgets/usages.js';
import { WaitingArrivals } from './scheduling/waiting-arrivals.js';
import { WaitingGroups } from './joins/waiting-groups.js';
import { WaitingForAgents } from './presence/waiting-for-agents.js';
import { Withdrawal } from './joins/withdrawal.js';
import { WorkflowErrors } from './scheduling/workflow-errors.js';

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
