import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { random } from '../../common/random.js';
import { type DeliveryOutcome, Telemetry } from '../../common/telemetry.js';
import { Settings } from '../../config/settings.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import type { FreeSlotIn } from '../../queue/claimant.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { DeliveryAttemptsRepository, type DeliveryChange } from './delivery-attempts.repository.js';
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
    private readonly attempts: DeliveryAttemptsRepository,
    private readonly targets: WebhookTargetsRepository,
    private readonly signals: Signals,
    private readonly telemetry: Telemetry,
  ) {}

  /** `freeSlotIn`: as in ClaimHolder. */
  commit(delivery: SentDelivery, sent: Sent, freeSlotIn: FreeSlotIn): Promise<DeliveryOutcome> {
    const { heldUntil } = sent;
    if (heldUntil !== null) return this.hold(delivery, sent, heldUntil, freeSlotIn);
    const again = sent.error === null || sent.isFinal ? null : this.nextTry(delivery.attempt, sent);
    return this.unitOfWork.run(async (tx) => {
      freeSlotIn(tx);
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
    const scheduled = nextTryAt(this.settings.webhookRetries, { attempt, startedAt }, random.number());
    return scheduled === null ? null : Math.max(scheduled, notBefore ?? 0);
  }

  /** Postpones the same attempt, because nothing was sent. */
  private hold(delivery: EndingDelivery, sent: Sent, until: number, freeSlotIn: FreeSlotIn): Promise<DeliveryOutcome> {
    return this.unitOfWork.run(async (tx) => {
      freeSlotIn(tx);
      const { attempt } = delivery;
      const change = { state: 'pending', attempt, available_at: until, ended_at: null } as const;
      if (!(await this.releaseLease(tx, delivery, change, sent))) return 'discarded';
      tx.afterCommit(() => this.signals.deliveryRetryScheduled.publish(until));
      return 'held';
    });
  }

  private async retry(tx: Transaction, delivery: EndingDelivery, sent: Sent, again: number): Promise<DeliveryOutcome> {
    const change = { state: 'pending', attempt: delivery.attempt + 1, available_at: again, ended_at: null } as const;
    if (!(await this.releaseLease(tx, delivery, change, sent))) return 'discarded';
    await this.record(tx, delivery, sent);
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
    state: 'delivered' | 'dead',
    sent: Pick<Sent, 'status' | 'error'> & Partial<Sent>,
  ): Promise<boolean> {
    const { correlationId, attempt, target } = delivery;
    const ended = { state, attempt, available_at: null, ended_at: this.clock.now() };
    // A publish that adds to the group locks the correlation too, so it sees whether a delivery is open before its
    // own.
    const [, isReleased] = await Promise.all([
      this.deliveries.holdGroups(tx, correlationId),
      this.releaseLease(tx, delivery, ended, sent),
    ]);
    if (!isReleased) return false;
    const [, next] = await Promise.all([
      isTry(sent) ? this.record(tx, delivery, sent) : undefined,
      this.deliveries.beginNext(tx, correlationId, target.id),
    ]);
    // Its position in the target's queue is unknown, so the whole queue must be read.
    for (const { queue } of next) tx.whenVisible(() => this.signals.deliveryReturned.publish(queue));
    return true;
  }

  /** Releases the lease if this process still has it. Every outcome depends on this. */
  private releaseLease(
    tx: Transaction,
    delivery: EndingDelivery,
    change: Omit<DeliveryChange, 'last_status' | 'last_error'>,
    { status, error }: Pick<Sent, 'status' | 'error'>,
  ): Promise<boolean> {
    return this.attempts.releaseLease(tx, delivery, { ...change, last_status: status, last_error: error });
  }

  private record(
    tx: Transaction,
    { id, attempt }: EndingDelivery,
    { startedAt, durationMs, status, error }: Sent,
  ): Promise<void> {
    const times = { started_at: startedAt, duration_ms: durationMs };
    return this.attempts.record(tx, { delivery_id: id, attempt, ...times, status, error });
  }
}

const isTry = (sent: Partial<Sent>): sent is Sent => sent.startedAt !== undefined;
