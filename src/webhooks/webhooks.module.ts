import { Module } from '@nestjs/common';
import { BlackboardModule } from '../blackboard/blackboard.module.js';
import { Settings } from '../config/settings.js';
import { UnitOfWork } from '../database/unit-of-work.js';
import { OutboundModule } from '../outbound/outbound.module.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { DeliveriesService } from './deliveries.service.js';
import { DeliveryDeletion } from './delivery-deletion.js';
import { Deliverer } from './deliverer.js';
import { DeliveryClaims } from './delivery-claims.js';
import { DeliveryLeases } from './delivery-leases.js';
import { DeliveryOutcomes } from './delivery-outcomes.js';
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
  imports: [BlackboardModule, OutboundModule],
  controllers: [WebhooksController],
  providers: [
    DeliveriesRepository,
    DeliveriesService,
    DeliveryDeletion,
    Deliverer,
    DeliveryClaims,
    DeliveryLeases,
    DeliveryOutcomes,
    OpenDeliveries,
    Outbox,
    ReadyTargets,
    Sending,
    SilentTargets,
    // After the database: whoever holds that may make the key's file beside it.
    { provide: StoredSecrets, useFactory: (settings: Settings, _open: UnitOfWork) => StoredSecrets.open(settings), inject: [Settings, UnitOfWork] },
    TargetDeletion,
    WebhookTargets,
    WebhookTargetsRepository,
  ],
  exports: [OpenDeliveries, WebhookTargets],
})
export class WebhooksModule {}
