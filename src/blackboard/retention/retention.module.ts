import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { CorrelationStateModule } from '../correlations/correlation-state.module.js';
import { JoinsModule } from '../joins/joins.module.js';
import { LiveProcessesModule } from '../processes/live-processes.module.js';
import { ArtifactDeletion } from './artifact-deletion.js';
import { ExecutionDeletion } from './execution-deletion.js';
import { ExpiredAnswers } from './expired-answers.js';
import { Retention } from './retention.js';
import { SettledCorrelations } from './settled-correlations.js';

@Module({
  imports: [CorrelationStateModule, DatabaseModule, JoinsModule, LiveProcessesModule],
  providers: [ArtifactDeletion, ExecutionDeletion, ExpiredAnswers, Retention, SettledCorrelations],
  exports: [Retention, SettledCorrelations],
})
export class RetentionModule {}
