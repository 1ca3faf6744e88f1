import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { ArtifactQueriesService } from './artifact-queries.service.js';
import { ArtifactTypesController } from './artifact-types.controller.js';
import { ArtifactsController } from './artifacts.controller.js';
import { PublishingService } from './publishing.service.js';

@Module({
  imports: [BlackboardModule, IdempotencyModule, WebhooksModule],
  controllers: [ArtifactsController, ArtifactTypesController],
  providers: [ArtifactQueriesService, PublishingService],
  exports: [ArtifactQueriesService, PublishingService],
})
export class ArtifactsModule {}
