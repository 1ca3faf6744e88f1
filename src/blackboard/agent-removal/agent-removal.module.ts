import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { CorrelationStateModule } from '../correlations/correlation-state.module.js';
import { ExecutionModule } from '../execution/execution.module.js';
import { JoinsModule } from '../joins/joins.module.js';
import { PresenceModule } from '../presence/presence.module.js';
import { LiveProcessesModule } from '../processes/live-processes.module.js';
import { AgentRemoval } from './agent-removal.js';
import { ExecutionRemoval } from './execution-removal.js';
import { GroupRemoval } from './group-removal.js';

@Module({
  imports: [CorrelationStateModule, DatabaseModule, ExecutionModule, JoinsModule, LiveProcessesModule, PresenceModule],
  providers: [AgentRemoval, ExecutionRemoval, GroupRemoval],
  exports: [AgentRemoval],
})
export class AgentRemovalModule {}
