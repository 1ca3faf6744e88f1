import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { CorrelationStateModule } from '../correlations/correlation-state.module.js';
import { JoinsModule } from '../joins/joins.module.js';
import { ArtifactDeletion } from './artifact-deletion.js';
import { ExecutionDeletion } from './execution-deletion.js';
import { Retention } from './retention.js';
import { SchedulerLocks } from './scheduler-locks.repository.js';
import { SettledCorrelations } from './settled-correlations.js';

@Module({
  imports: [CorrelationStateModule, DatabaseModule, JoinsModule],
  providers: [ArtifactDeletion, ExecutionDeletion, Retention, SettledCorrelations, SchedulerLocks],
  exports: [Retention, SchedulerLocks, SettledCorrelations],
})
export class RetentionModule {}
