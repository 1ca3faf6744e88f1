import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { type DeliveryOutcome, Telemetry } from '../../common/telemetry.js';
import { Settings } from '../../config/settings.js';
import { dialectOf } from '../../database/dialects/dialect.js';
import { places, prepared, preparedInsert } from '../../database/prepared.js';
import type { DeliveryState } from '../../database/schema.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { isInState } from '../../queue/state-predicate.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import type { ClaimedDelivery } from './delivery-claims.js';
import { nextTryAt } from './retry-schedule.js';
import type { Sent } from './sending.js';
import { WebhookTargetsRepository } from './webhook-targets.repository.js';

export type EndingDelivery = Pick<ClaimedDelivery, 'id' | 'correlationId' | 'attempt' | 'leaseToken'> & {
  target: { id: string };
};
type SentDelivery = EndingDelivery & Pick<ClaimedDelivery, 'target'>;

/**
 * Commits the outcome of an attempt in one transaction: the delivery's state, the attempt and, when the delivery has
 * ended, the start of the next one in its group. The lease guards the transaction: a process without it commits nothing
 * and gets `discarded`.
 */
@Injectable()
export class DeliveryOutcomes {
  constructor(
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly deliveries: DeliveriesRepository,
    private readonly targets: WebhookTargetsRepository,
    private readonly signals: Signals,
    private readonly telemetry: Telemetry,
  ) {}

  /** Calls `onVisible` when later transactions see the outcome. */
  commit(delivery: SentDelivery, sent: Sent, onVisible: () => void): Promise<DeliveryOutcome> {
    const { heldUntil } = sent;
    if (heldUntil !== null) return this.hold(delivery, sent, heldUntil, onVisible);
    const again = sent.error === null || sent.isFinal ? null : this.nextTry(delivery.attempt, sent);
    return this.unitOfWork.run(async (tx) => {
      tx.whenVisible(onVisible);
      const outcome =
        again !== null ? await this.retry(tx, delivery, sent, again) : await this.endTried(tx, delivery, sent);
      if (outcome !== 'discarded') await this.noteTarget(tx, delivery, sent);
      return outcome;
    });
  }

  /** Ends a delivery without another attempt, in the caller's transaction. */
  async giveUp(tx: Transaction, delivery: EndingDelivery, error: string): Promise<void> {
    if (await this.end(tx, delivery, 'dead', { status: null, error }))
      tx.afterCommit(() => this.telemetry.deliveriesGivenUp(1));
  }

  private nextTry(attempt: number, { startedAt, notBefore }: Sent): number | null {
    const scheduled = nextTryAt(this.settings.webhookRetries, { attempt, startedAt }, Math.random());
    return scheduled === null ? null : Math.max(scheduled, notBefore ?? 0);
  }

  /** Postpones the same attempt, because nothing was sent. */
  private hold(delivery: EndingDelivery, sent: Sent, until: number, onVisible: () => void): Promise<DeliveryOutcome> {
    return this.unitOfWork.run(async (tx) => {
      tx.whenVisible(onVisible);
      const { attempt } = delivery;
      if (!(await releaseLease(tx, delivery, { state: 'pending', attempt, available_at: until, ended_at: null }, sent)))
        return 'discarded';
      tx.afterCommit(() => this.signals.deliveryRetryScheduled.publish(until));
      return 'held';
    });
  }

  private async retry(tx: Transaction, delivery: EndingDelivery, sent: Sent, again: number): Promise<DeliveryOutcome> {
    const { id, attempt } = delivery;
    if (
      !(await releaseLease(
        tx,
        delivery,
        { state: 'pending', attempt: attempt + 1, available_at: again, ended_at: null },
        sent,
      ))
    )
      return 'discarded';
    await recordTry(tx, id, attempt, sent);
    tx.afterCommit(() => this.signals.deliveryRetryScheduled.publish(again));
    return 'retried';
  }

  private async endTried(tx: Transaction, delivery: EndingDelivery, sent: Sent): Promise<DeliveryOutcome> {
    const state = sent.error === null ? 'delivered' : 'dead';
    return (await this.end(tx, delivery, state, sent)) ? state : 'discarded';
  }

  // Compares with the value that the claim has read, so that targets whose state does not change cost no query.
  private async noteTarget(
    tx: Transaction,
    { target: { id, failing_since } }: SentDelivery,
    sent: Sent,
  ): Promise<void> {
    if (sent.target === 'fails' && failing_since === null) await this.targets.noteFailing(tx, id, sent.startedAt);
    if (sent.target === 'works' && failing_since !== null) await this.targets.noteWorking(tx, id);
  }

  private async end(
    tx: Transaction,
    delivery: EndingDelivery,
    state: DeliveryState,
    sent: Pick<Sent, 'status' | 'error'> & Partial<Sent>,
  ): Promise<boolean> {
    const { id, correlationId, attempt, target } = delivery;
    const ended = { state, attempt, available_at: null, ended_at: this.clock.now() };
    // A publish that adds to the group locks the correlation too, so that it sees whether a delivery is open before its
    // own.
    const [, isReleased] = await Promise.all([
      this.holdGroups(tx, correlationId),
      releaseLease(tx, delivery, ended, sent),
    ]);
    if (!isReleased) return false;
    const [, next] = await Promise.all([
      isTry(sent) ? recordTry(tx, id, attempt, sent) : undefined,
      this.deliveries.beginNext(tx, correlationId, target.id),
    ]);
    // Its position in the target's queue is unknown, so that the whole queue must be read.
    for (const { queue } of next) tx.whenVisible(() => this.signals.deliveryReturned.publish(queue));
    return true;
  }

  private async holdGroups(tx: Transaction, correlationId: string): Promise<void> {
    if (!dialectOf(tx.db).exclusive) await this.deliveries.holdGroups(tx, correlationId);
  }
}

const isTry = (sent: Partial<Sent>): sent is Sent => sent.startedAt !== undefined;

type Change = { state: DeliveryState; attempt: number; available_at: number | null; ended_at: number | null };

/** Releases the lease if this process still has it. Every outcome depends on this. */
async function releaseLease(
  tx: Transaction,
  { id, leaseToken }: EndingDelivery,
  change: Change,
  { status, error }: Pick<Sent, 'status' | 'error'>,
): Promise<boolean> {
  const updated = await updateUnderLease(tx.db, { id, leaseToken, ...change, last_status: status, last_error: error });
  return updated.length > 0;
}

const CHANGED = ['state', 'attempt', 'available_at', 'ended_at', 'last_status', 'last_error'] as const;

const updateUnderLease = prepared<
  Change & { id: string; leaseToken: string; last_status: number | null; last_error: string | null },
  { id: string }
>((db, place) =>
  db
    .updateTable('deliveries')
    .set({ ...places(place, CHANGED), lease_token: null, lease_owner: null, lease_until: null })
    .where('id', '=', place('id'))
    .where(isInState('running'))
    .where('lease_token', '=', place('leaseToken'))
    .returning('id'),
);

const recordTry = (
  tx: Transaction,
  deliveryId: string,
  attempt: number,
  { startedAt, durationMs, status, error }: Sent,
): Promise<void> =>
  insertTries(tx.db, [
    { delivery_id: deliveryId, attempt, started_at: startedAt, duration_ms: durationMs, status, error },
  ]);

const insertTries = preparedInsert('delivery_attempts', [
  'delivery_id',
  'attempt',
  'started_at',
  'duration_ms',
  'status',
  'error',
]);
