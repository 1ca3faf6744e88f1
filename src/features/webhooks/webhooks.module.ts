import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { SecretsModule } from '../../crypto/secrets.module.js';
import { OutboundModule } from '../../http-client/outbound.module.js';
import { Deliverer } from './deliverer.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { DeliveriesService } from './deliveries.service.js';
import { DeliveryClaims } from './delivery-claims.js';
import { DeliveryDeletion } from './delivery-deletion.js';
import { DeliveryLeases } from './delivery-leases.js';
import { DeliveryOutcomes } from './delivery-outcomes.js';
import { DeliveryPayloads } from './delivery-payloads.js';
import { OpenDeliveries } from './open-deliveries.js';
import { Outbox } from './outbox.js';
import { ReadyTargets } from './ready-targets.js';
import { Sending } from './sending.js';
import { SilentTargets } from './silent-targets.js';
import { StoredSecrets } from './stored-secrets.js';
import { TargetDeletion } from './target-deletion.js';
import { WebhookTargets } from './webhook-targets.js';
import { WebhookTargetsRepository } from './webhook-targets.repository.js';
import { WebhooksController } from './webhooks.controller.js';

@Module({
  imports: [BlackboardModule, OutboundModule, SecretsModule],
  controllers: [WebhooksController],
  providers: [
    DeliveriesRepository,
    DeliveriesService,
    DeliveryDeletion,
    Deliverer,
    DeliveryClaims,
    DeliveryLeases,
    DeliveryOutcomes,
    DeliveryPayloads,
    OpenDeliveries,
    Outbox,
    ReadyTargets,
    Sending,
    SilentTargets,
    StoredSecrets,
    TargetDeletion,
    WebhookTargets,
    WebhookTargetsRepository,
  ],
  exports: [OpenDeliveries, WebhookTargets],
})
export class WebhooksModule {}
