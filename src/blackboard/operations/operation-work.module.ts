import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { CorrelationStateModule } from '../correlations/correlation-state.module.js';
import { ExecutionModule } from '../execution/execution.module.js';
import { JoinsModule } from '../joins/joins.module.js';
import { PresenceModule } from '../presence/presence.module.js';
import { LiveProcessesModule } from '../processes/live-processes.module.js';
import { QueriesModule } from '../queries/queries.module.js';
import { RetentionModule } from '../retention/retention.module.js';
import { SchedulingModule } from '../scheduling/scheduling.module.js';
import { AgentRemoval } from './agent-removal.js';
import { FailWork } from './fail-work.js';
import { GroupRemoval } from './group-removal.js';
import { OperationDeletion } from './operation-deletion.js';
import { OperationLoop } from './operation-loop.js';
import { OperationWorks } from './operation-works.js';
import { Operations } from './operations.js';
import { RetryWork } from './retry-work.js';
import { WaitingExecutions } from './waiting-executions.js';

@Module({
  imports: [
    CorrelationStateModule,
    DatabaseModule,
    ExecutionModule,
    JoinsModule,
    LiveProcessesModule,
    PresenceModule,
    QueriesModule,
    RetentionModule,
    SchedulingModule,
  ],
  providers: [
    AgentRemoval,
    FailWork,
    GroupRemoval,
    OperationDeletion,
    OperationLoop,
    OperationWorks,
    Operations,
    RetryWork,
    WaitingExecutions,
  ],
  exports: [Operations],
})
export class OperationWorkModule {}
