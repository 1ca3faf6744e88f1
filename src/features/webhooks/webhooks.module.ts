import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { Clock } from '../../common/clock.js';
import { SecretsModule } from '../../crypto/secrets.module.js';
import { OutboundModule } from '../../http-client/outbound.module.js';
import { Signals } from '../../pubsub/signals.js';
import { Deliverer } from './deliverer.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { DeliveriesService } from './deliveries.service.js';
import { DeliveryAttempts } from './delivery-attempts.js';
import { DeliveryAttemptsRepository } from './delivery-attempts.repository.js';
import { DeliveryClaims } from './delivery-claims.js';
import { DeliveryDeletion } from './delivery-deletion.js';
import { DeliveryLeases } from './delivery-leases.js';
import { DeliveryListRepository } from './delivery-list.repository.js';
import { AT_ONCE_TO_TARGET, DeliveryLoop } from './delivery-loop.js';
import { DeliveryOutcomes } from './delivery-outcomes.js';
import { DeliveryPayloads } from './delivery-payloads.js';
import { DeliveryQueuesRepository } from './delivery-queues.repository.js';
import { Outbox } from './outbox.js';
import { Sending } from './sending.js';
import { SilentTargets } from './silent-targets.js';
import { StoredSecrets } from './stored-secrets.js';
import { TargetBreaker } from './target-breaker.js';
import { TargetDeletion } from './target-deletion.js';
import { TargetListRepository } from './target-list.repository.js';
import { TargetsService } from './targets.service.js';
import { WebhookTargetsController } from './webhook-targets.controller.js';
import { WebhookTargets } from './webhook-targets.js';
import { WebhookTargetsRepository } from './webhook-targets.repository.js';
import { WebhooksController } from './webhooks.controller.js';

@Module({
  imports: [BlackboardModule, OutboundModule, SecretsModule],
  controllers: [WebhooksController, WebhookTargetsController],
  providers: [
    DeliveriesRepository,
    DeliveriesService,
    DeliveryDeletion,
    Deliverer,
    DeliveryAttempts,
    DeliveryAttemptsRepository,
    DeliveryClaims,
    DeliveryLeases,
    DeliveryListRepository,
    DeliveryLoop,
    DeliveryOutcomes,
    DeliveryPayloads,
    DeliveryQueuesRepository,
    Outbox,
    Sending,
    SilentTargets,
    StoredSecrets,
    {
      provide: TargetBreaker,
      useFactory: (clock: Clock, signals: Signals) =>
        new TargetBreaker(AT_ONCE_TO_TARGET, clock, (queue) => signals.deliveryReady.publish(queue)),
      inject: [Clock, Signals],
    },
    TargetDeletion,
    TargetListRepository,
    TargetsService,
    WebhookTargets,
    WebhookTargetsRepository,
  ],
  exports: [DeliveriesService, WebhookTargets],
})
export class WebhooksModule {}
