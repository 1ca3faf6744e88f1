import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { CorrelationStateModule } from '../correlations/correlation-state.module.js';
import { MatchingModule } from '../matching/matching.module.js';
import { LiveProcessesModule } from '../processes/live-processes.module.js';
import { SchedulingModule } from '../scheduling/scheduling.module.js';
import { AbandonedGroups } from './abandoned-groups.js';
import { BatchWindows } from './batch-windows.js';
import { GroupErrors } from './group-errors.js';
import { GroupsWithoutSubscription } from './groups-without-subscription.js';
import { JoinRemoval } from './join-removal.js';
import { Joins } from './joins.js';
import { WaitingGroups } from './waiting-groups.js';

@Module({
  imports: [CorrelationStateModule, DatabaseModule, LiveProcessesModule, MatchingModule, SchedulingModule],
  providers: [AbandonedGroups, BatchWindows, GroupErrors, GroupsWithoutSubscription, Joins, WaitingGroups, JoinRemoval],
  exports: [BatchWindows, GroupErrors, GroupsWithoutSubscription, Joins, WaitingGroups, JoinRemoval],
})
export class JoinsModule {}
