import { Inject, Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Telemetry } from '../../common/telemetry.js';
import { toTimestamp } from '../../common/timestamp.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { DeliveryAttemptsRepository } from './delivery-attempts.repository.js';
import type { ClaimedDelivery } from './delivery-claims.js';
import { originOf, RANKS } from './delivery-queue.js';
import { WebhookTargetsRepository } from './webhook-targets.repository.js';

/** Maximum number of rows that one transaction ends. */
const AT_ONCE = 100;
/** A delivery is not abandoned before it has waited this long, even if the retry schedule is shorter. */
const LEAST_WAIT_MS = 600_000;

interface Silence {
  target: string;
  queue: string;
  /** When the target began to fail (epoch ms). */
  failingSince: number;
  /** Deliveries that have waited since this time or longer are abandoned (epoch ms). */
  waitingSince: number;
}

/**
 * Gives up the deliveries that wait for a target that does not answer. Such a target is held back, so a long queue
 * would take weeks to use up its attempts. The attempts of one delivery therefore count for all: when one delivery has
 * used up its attempts and the target has not answered meanwhile, all deliveries that have waited since before the
 * first of these attempts are dead too.
 */
@Injectable()
export class SilentTargets {
  private readonly underWay = new Map<string, Promise<void>>();
  private stopped = false;

  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly deliveries: DeliveriesRepository,
    private readonly attempts: DeliveryAttemptsRepository,
    private readonly targets: WebhookTargetsRepository,
    private readonly signals: Signals,
    private readonly telemetry: Telemetry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Call it when the last attempt of a delivery has failed. After a crash, the next delivery that ends does the rest.
   */
  exhausted(delivery: ClaimedDelivery): void {
    const { queue } = delivery;
    if (this.stopped || this.underWay.has(queue)) return;
    const work = this.giveUpWaiting(delivery)
      .catch((error: unknown) =>
        this.logger.warn(
          { err: error, origin: originOf(queue) },
          'deliveries to a target that does not answer could not be abandoned',
        ),
      )
      .finally(() => this.underWay.delete(queue));
    this.underWay.set(queue, work);
  }

  /** Returns when the running steps have ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.underWay.values());
  }

  private async giveUpWaiting(delivery: ClaimedDelivery): Promise<void> {
    const silence = await this.silenceSeenBy(delivery);
    if (!silence) return;
    let count = 0;
    for (const { background } of RANKS) count += await this.walk(silence, background);
    if (count > 0) {
      const fields = {
        origin: originOf(silence.queue),
        deliveries: count,
        failing_since: toTimestamp(silence.failingSince),
      };
      this.logger.warn(
        fields,
        'abandoned waiting deliveries: their target answered no attempt of another delivery meanwhile',
      );
    }
  }

  private async silenceSeenBy({ id, queue, target }: ClaimedDelivery): Promise<Silence | null> {
    const { reader } = this.unitOfWork;
    const failingSince = await this.targets.failingSince(reader, target.id);
    const firstStart = await this.attempts.firstStart(reader, id);
    if (failingSince === null || firstStart === undefined) return null;
    const waitingSince = Math.min(firstStart, this.clock.now() - LEAST_WAIT_MS);
    return failingSince <= waitingSince ? { target: target.id, queue, failingSince, waitingSince } : null;
  }

  /**
   * Ends deliveries of background work, or all if `background` is 0, in the order of claims. It reads the first delivery of each
   * correlation; the later ones of the correlation end with it.
   */
  private async walk(silence: Silence, background: number): Promise<number> {
    const { queue, waitingSince } = silence;
    let ended = 0;
    let passed = 0;
    while (!this.stopped) {
      const some = await this.deliveries.readyIn(this.unitOfWork.reader, { queue, background, passed });
      const waiting = some.filter(({ since }) => since <= waitingSince);
      passed += some.length - waiting.length;
      const here = await this.endIn(silence, [...new Set(waiting.map(({ correlation_id }) => correlation_id))]);
      ended += here;
      // The remaining rows here and behind are too recent, or cannot be ended now.
      if (here === 0 && some.every(({ created_at, since }) => created_at > waitingSince || since <= waitingSince))
        break;
    }
    return ended;
  }

  private async endIn(silence: Silence, correlations: readonly string[]): Promise<number> {
    let ended = 0;
    for (let start = 0; start < correlations.length && !this.stopped;) {
      const some = await this.unitOfWork.run((tx) =>
        this.endSome(tx, silence, correlations.slice(start, start + AT_ONCE)),
      );
      this.telemetry.deliveriesGivenUp(some);
      ended += some;
      if (some < AT_ONCE) start += AT_ONCE;
    }
    return ended;
  }

  private async endSome(
    tx: Transaction,
    { target, failingSince, waitingSince }: Silence,
    correlations: readonly string[],
  ): Promise<number> {
    await this.deliveries.holdAllGroups(tx, correlations);
    // The target has answered meanwhile, and may have failed again since.
    if ((await this.targets.failingSince(tx.db, target)) !== failingSince) return 0;
    const error = `its target has not answered since ${toTimestamp(failingSince)}: all attempts of another delivery failed while this one waited`;
    const end = { target, waitingSince, now: this.clock.now(), error };
    const ended = await this.deliveries.endWaiting(tx, end, correlations, AT_ONCE);
    const next = await Promise.all(
      [...new Set(ended)].map((correlation) => this.deliveries.beginNext(tx, correlation, target)),
    );
    for (const { queue } of next.flat()) tx.whenVisible(() => this.signals.deliveryReturned.publish(queue));
    return ended.length;
  }
}
