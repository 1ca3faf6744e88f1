import { Injectable, type OnModuleInit } from '@nestjs/common';

import { ArtifactsPublished, type PublishedArtifact } from '../../blackboard/correlations/artifacts-published.js';
import type { TrackedCorrelation } from '../../blackboard/correlations/tracked-correlation.js';
import { newId } from '../../common/ids.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { DeliveriesRepository, type NewDelivery } from './deliveries.repository.js';
import { queueOf } from './delivery-queue.js';
import { WebhookTargets } from './webhook-targets.js';
import { type DeliveryGroup, WebhookTargetsRepository } from './webhook-targets.repository.js';

/**
 * Writes the deliveries of artifacts in the transaction that publishes them. Only the first open delivery of a group
 * may be claimed; the others wait until it has ended. To keep that true, this transaction and every one that ends a
 * delivery lock the correlation, unless no other one can know it yet.
 */
@Injectable()
export class Outbox implements OnModuleInit {
  constructor(
    private readonly published: ArtifactsPublished,
    private readonly targets: WebhookTargets,
    private readonly targetRows: WebhookTargetsRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly signals: Signals,
  ) {}

  onModuleInit(): void {
    this.published.add((tx, published, now) => this.write(tx, published, now));
  }

  private async write(tx: Transaction, published: readonly PublishedArtifact[], now: number): Promise<void> {
    const owed = published.filter(
      ({ correlation }) =>
        (this.targets.operator !== null || correlation.webhook_targets > 0) && sendsWebhooks(correlation),
    );
    if (owed.length === 0) return;
    const deliveries: NewDelivery[] = [];
    for (const [correlation, artifacts] of Map.groupBy(owed, (artifact) => artifact.correlation)) {
      const groups = await this.groupsOf(tx, correlation, artifacts);
      for (const [index, artifact] of artifacts.entries()) {
        deliveries.push(...groups.map((group) => delivery(artifact, group, index === 0 && group.is_busy === 0, now)));
      }
    }
    await this.deliveries.insert(tx, deliveries);
    const queues = new Set(deliveries.filter(({ state }) => state === 'pending').map(({ queue }) => queue));
    tx.whenVisible(() => queues.forEach((queue) => this.signals.deliveryReady.publish(queue)));
  }

  private async groupsOf(
    tx: Transaction,
    correlation: TrackedCorrelation,
    [first]: readonly PublishedArtifact[],
  ): Promise<DeliveryGroup[]> {
    const clients = correlation.webhook_targets > 0 ? this.targetRows.groupsOf(tx, correlation.id) : [];
    const { operator } = this.targets;
    if (operator === null) return clients;
    // The group of a new correlation is empty, so no query is needed.
    const isBusy = first!.sequence > 1 && this.deliveries.isBusy(tx, correlation.id, operator.id);
    return [{ target_id: operator.id, origin: operator.origin, is_busy: (await isBusy) ? 1 : 0 }, ...(await clients)];
  }
}

/** Only a full replay is a real run. */
const sendsWebhooks = ({ replay_mode }: TrackedCorrelation): boolean => replay_mode === null || replay_mode === 'full';

const delivery = (
  { seq, id, sequence, correlation }: PublishedArtifact,
  group: DeliveryGroup,
  isFirst: boolean,
  now: number,
): NewDelivery => ({
  id: newId(),
  target_id: group.target_id,
  queue: queueOf(group),
  correlation_id: correlation.id,
  artifact_seq: seq,
  artifact_id: id,
  sequence,
  state: isFirst ? 'pending' : 'waiting',
  priority: 0,
  background: correlation.background,
  attempt: 1,
  lost_leases: 0,
  traceparent: correlation.workTraceparent,
  created_at: now,
});
