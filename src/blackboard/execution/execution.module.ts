import { Module } from '@nestjs/common';

import { ExpressionsModule } from '../../cel/expressions.module.js';
import { DatabaseModule } from '../../database/database.module.js';
import { EnginesModule } from '../../engines/engines.module.js';
import { SignalsModule } from '../../pubsub/signals.module.js';
import { BudgetsModule } from '../budgets/budgets.module.js';
import { CorrelationStateModule } from '../correlations/correlation-state.module.js';
import { JoinsModule } from '../joins/joins.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { LiveProcessesModule } from '../processes/live-processes.module.js';
import { PublishingModule } from '../publishing/publishing.module.js';
import { QueriesModule } from '../queries/queries.module.js';
import { SchedulingModule } from '../scheduling/scheduling.module.js';
import { AgentLimits } from './agent-limits.js';
import { AnswerMemory } from './answer-memory.js';
import { Answers } from './answers.js';
import { AttemptCommits } from './attempt-commits.js';
import { AttemptReports } from './attempt-reports.js';
import { BudgetOutcomes } from './budget-outcomes.js';
import { CachedAnswers } from './cached-answers.js';
import { CancelEffects } from './cancel-effects.js';
import { Cancellation } from './cancellation.js';
import { CancelledExecutions } from './cancelled-executions.js';
import { Claims } from './claims.js';
import { EndedExecutions } from './ended-executions.js';
import { EngineContexts } from './engine-contexts.js';
import { ExecutionRun } from './execution-run.js';
import { ExecutionSlots } from './execution-slots.js';
import { Executor } from './executor.js';
import { FailedAttempts } from './failed-attempts.js';
import { FailedExecutions } from './failed-executions.js';
import { InlineAnswers } from './inline-answers.js';
import { InlineExecutions } from './inline-executions.js';
import { InputMemory } from './input-memory.js';
import { InputParsing } from './input-parsing.js';
import { LateSingletons } from './late-singletons.js';
import { LeaseWatch } from './lease-watch.js';
import { Leases } from './leases.js';
import { Outcomes } from './outcomes.js';
import { OutputMemory } from './output-memory.js';
import { RunningAgents } from './running-agents.js';
import { RunningExecutions } from './running-executions.js';
import { StartedExecutions } from './started-executions.js';
import { UnclaimedShadows } from './unclaimed-shadows.js';

@Module({
  imports: [
    BudgetsModule,
    CorrelationStateModule,
    DatabaseModule,
    EnginesModule,
    ExpressionsModule,
    JoinsModule,
    LimitsModule,
    LiveProcessesModule,
    PublishingModule,
    QueriesModule,
    SchedulingModule,
    SignalsModule,
  ],
  providers: [
    AgentLimits,
    AnswerMemory,
    Answers,
    AttemptCommits,
    AttemptReports,
    BudgetOutcomes,
    CachedAnswers,
    CancelEffects,
    Cancellation,
    CancelledExecutions,
    Claims,
    EndedExecutions,
    EngineContexts,
    ExecutionRun,
    ExecutionSlots,
    Executor,
    FailedExecutions,
    FailedAttempts,
    InlineAnswers,
    InlineExecutions,
    InputMemory,
    InputParsing,
    LateSingletons,
    LeaseWatch,
    Leases,
    Outcomes,
    OutputMemory,
    RunningAgents,
    RunningExecutions,
    StartedExecutions,
    UnclaimedShadows,
  ],
  exports: [
    AgentLimits,
    Answers,
    AttemptReports,
    Cancellation,
    CancelledExecutions,
    Claims,
    ExecutionSlots,
    Executor,
    FailedExecutions,
    FailedAttempts,
    InputMemory,
    LateSingletons,
    LeaseWatch,
    Leases,
    Outcomes,
    UnclaimedShadows,
  ],
})
export class ExecutionModule {}
