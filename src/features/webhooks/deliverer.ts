import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { Clock } from '../../common/clock.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Role } from '../../common/role.js';
import { type DeliveryOutcome, Telemetry } from '../../common/telemetry.js';
import { Settings } from '../../config/settings.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { type Span, Tracing } from '../../observability/tracing/tracing.js';
import { Signals } from '../../pubsub/signals.js';
import { type ClaimHolder, ClaimingLoop, type StartedRun } from '../../queue/claiming-loop.js';
import { commitWithRetry } from '../../queue/commit-with-retry.js';
import { Slots } from '../../queue/slots.js';
import { type ClaimedDelivery, DeliveryClaims } from './delivery-claims.js';
import { DeliveryLeases } from './delivery-leases.js';
import { DeliveryOutcomes } from './delivery-outcomes.js';
import { ReadyTargets } from './ready-targets.js';
import { Sending, type Sent } from './sending.js';
import { SilentTargets } from './silent-targets.js';
import { TargetBreaker } from './target-breaker.js';
import { originOf } from './target-queue.js';

/**
 * Maximum number of deliveries that one process sends at the same time: to one target, to all targets of one origin,
 * and in total. A few slow targets therefore do not delay the others.
 */
const AT_ONCE_TO_TARGET = 16;
const AT_ONCE_TO_ORIGIN = 64;
const AT_ONCE = 256;
const LOOK_AGAIN_MS = 2_000;

/** Claims pending deliveries from the queues of their targets and sends them. Only workers do this. */
@Injectable()
export class Deliverer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop;
  private readonly breaker: TargetBreaker;
  private stopped: Promise<void> | null = null;
  private beating = false;
  private cancelHeartbeat = (): void => undefined;

  constructor(
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly lifecycle: Lifecycle,
    private readonly role: Role,
    unitOfWork: UnitOfWork,
    private readonly signals: Signals,
    claims: DeliveryClaims,
    private readonly leases: DeliveryLeases,
    targets: ReadyTargets,
    private readonly sending: Sending,
    private readonly outcomes: DeliveryOutcomes,
    private readonly silent: SilentTargets,
    private readonly telemetry: Telemetry,
    private readonly tracing: Tracing,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.breaker = new TargetBreaker(AT_ONCE_TO_TARGET, clock, (queue) => this.loop.wake(queue));
    this.loop = new ClaimingLoop(
      {
        name: 'deliveries',
        isLimitShared: () => false,
        queueOf: ({ queue }: ClaimedDelivery) => queue,
        queues: () => targets.find(),
        claim: (tx, slots, lease, now) => claims.claim(tx, slots, lease, now),
        start: (delivery: ClaimedDelivery, abort, holder) => this.deliver(delivery, abort, holder),
      },
      new Slots((queue) => this.breaker.limitOf(queue), AT_ONCE, { of: originOf, limit: AT_ONCE_TO_ORIGIN }),
      claims.rows,
      leases.rows,
      {
        ready: signals.deliveryReady,
        returned: signals.deliveryReturned,
        retryScheduled: signals.deliveryRetryScheduled,
        resync: signals.resync,
      },
      clock,
      unitOfWork,
      logger,
    );
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.role.worker) {
      this.signals.deliveryReady.subscribe((queue) => this.signals.deliveryReady.publishElsewhere(queue));
      return;
    }
    const takenOver = await this.leases.rows.takeOverLost();
    if (takenOver > 0)
      this.logger.warn({ deliveries: takenOver }, 'took over deliveries of a process that has stopped');
    await this.loop.start();
    this.beating = true;
    this.armHeartbeat();
    // Runs during the executor's grace period, and not after it.
    this.lifecycle.onStop(() => void this.stop());
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  @Interval(LOOK_AGAIN_MS)
  lookAgain(): void {
    this.loop.lookAgain();
  }

  private stop(): Promise<void> {
    return (this.stopped ??= this.stopOnce());
  }

  private async stopOnce(): Promise<void> {
    try {
      await this.loop.stop(this.settings.shutdownGraceMs);
    } catch (error) {
      this.logger.warn(
        { err: error },
        'deliveries could not be released; another process takes them over when their leases expire',
      );
    }
    this.beating = false;
    this.cancelHeartbeat();
    this.breaker.stop();
    await this.silent.stop();
  }

  private deliver(delivery: ClaimedDelivery, abort: AbortController, holder: ClaimHolder): StartedRun {
    const span = this.span(delivery);
    // Without tracing in this process, the receiver gets the trace context of the publish.
    const sent = this.sending.send(
      { ...delivery, traceparent: span.traceparent ?? delivery.traceparent },
      abort.signal,
    );
    const committed = sent
      .then(async (what) => {
        const outcome = await this.commit(delivery, what, holder);
        this.report(delivery, what, outcome, span);
        if (outcome === 'dead' && what.target === 'fails') this.silent.exhausted(delivery);
      })
      .catch((error: unknown) => {
        this.logger.error({ err: error, delivery_id: delivery.id }, "a delivery's outcome could not be committed");
        span.end({ failed: true, attributes: { 'error.type': 'internal' } });
      });
    return { committed, returned: sent.then(() => undefined) };
  }

  private commit(delivery: ClaimedDelivery, sent: Sent, holder: ClaimHolder): Promise<DeliveryOutcome> {
    // An attempt that the shutdown aborted says nothing about its target.
    if (holder.isOurs()) this.reportToBreaker(delivery, sent);
    return commitWithRetry(holder, this.clock, () => this.outcomes.commit(delivery, sent, holder.onOutcomeVisible));
  }

  private reportToBreaker({ id, queue }: ClaimedDelivery, sent: Sent): void {
    if (sent.heldUntil !== null) this.breaker.holdUntil(queue, sent.heldUntil);
    else if (sent.target === 'works') this.breaker.worked(queue);
    else if (sent.target === 'fails') this.breaker.failed(queue, id);
  }

  /** The span names only the host, because the rest of a receiver's URL may be a secret. */
  private span({ id, target, attempt, correlationId, traceparent }: ClaimedDelivery): Span {
    return this.tracing.start('webhook', {
      kind: 'client',
      parent: traceparent,
      attributes: {
        'http.request.method': 'POST',
        'server.address': new URL(target.url).hostname,
        'starling.delivery.id': id,
        'starling.delivery.attempt': attempt,
        'starling.correlation.id': correlationId,
      },
    });
  }

  private report(
    delivery: ClaimedDelivery,
    { durationMs, status, error }: Sent,
    outcome: DeliveryOutcome,
    span: Span,
  ): void {
    if (outcome !== 'held') this.telemetry.deliveryTried(outcome, durationMs);
    const failed = error !== null;
    span.end({
      attributes: {
        'http.response.status_code': status ?? undefined,
        'starling.delivery.outcome': outcome,
        'error.type': failed ? String(status ?? 'no_answer') : undefined,
      },
      failed,
    });
    const fields = {
      delivery_id: delivery.id,
      origin: originOf(delivery.queue),
      correlation_id: delivery.correlationId,
      attempt: delivery.attempt,
      outcome,
      duration_ms: durationMs,
      ...(status !== null && { status }),
      ...(error !== null && { reason: error }),
    };
    this.logger.info(fields, 'delivery');
  }

  private armHeartbeat(): void {
    this.cancelHeartbeat = this.clock.at(this.clock.now() + this.settings.leaseMs / 3, () => void this.beat());
  }

  private async beat(): Promise<void> {
    try {
      await this.leases.rows.renew(this.loop.runningIds());
      await this.leases.rows.takeOverLost();
    } catch (error) {
      this.logger.warn({ err: error }, 'leases of deliveries could not be renewed; trying again');
    }
    // Continues until the last delivery has ended, because this process keeps its leases in the grace period.
    if (this.beating) this.armHeartbeat();
  }
}
