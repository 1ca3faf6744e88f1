import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { SignalsModule } from '../../pubsub/signals.module.js';
import { ArtifactsPublished } from './artifacts-published.js';
import { CorrelationSettled } from './correlation-settled.js';
import { CorrelationTracker } from './correlation-tracker.js';
import { CorrelationWaiters } from './correlation-waiters.js';

@Module({
  imports: [DatabaseModule, SignalsModule],
  providers: [ArtifactsPublished, CorrelationSettled, CorrelationTracker, CorrelationWaiters],
  exports: [ArtifactsPublished, CorrelationSettled, CorrelationTracker, CorrelationWaiters],
})
export class CorrelationStateModule {}
