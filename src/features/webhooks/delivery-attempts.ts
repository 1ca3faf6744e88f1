import { Inject, Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { type DeliveryOutcome, Telemetry } from '../../common/telemetry.js';
import { type Span, Tracing } from '../../observability/tracing/tracing.js';
import type { ClaimHolder, StartedRun } from '../../queue/claimant.js';
import { commitWithRetry } from '../../queue/commit-with-retry.js';
import type { ClaimedDelivery } from './delivery-claims.js';
import { DeliveryOutcomes } from './delivery-outcomes.js';
import { originOf } from './delivery-queue.js';
import { Sending, type Sent } from './sending.js';
import { SilentTargets } from './silent-targets.js';
import { TargetBreaker } from './target-breaker.js';

/** Makes one attempt of a claimed delivery: sends it, commits the outcome, and reports it. */
@Injectable()
export class DeliveryAttempts {
  constructor(
    private readonly clock: Clock,
    private readonly sending: Sending,
    private readonly outcomes: DeliveryOutcomes,
    private readonly breaker: TargetBreaker,
    private readonly silent: SilentTargets,
    private readonly telemetry: Telemetry,
    private readonly tracing: Tracing,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  start(delivery: ClaimedDelivery, abort: AbortSignal, holder: ClaimHolder): StartedRun {
    const span = this.span(delivery);
    // Without tracing in this process, the receiver gets the trace context of the publish.
    const sent = this.sending.send({ ...delivery, traceparent: span.traceparent ?? delivery.traceparent }, abort);
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

  /** Call it when no attempt is running. Resolves when the work that follows from the attempts has ended. */
  async stop(): Promise<void> {
    this.breaker.stop();
    await this.silent.stop();
  }

  private commit(delivery: ClaimedDelivery, sent: Sent, holder: ClaimHolder): Promise<DeliveryOutcome> {
    // An attempt that the shutdown aborted says nothing about its target.
    if (holder.isOurs()) this.reportToBreaker(delivery, sent);
    return commitWithRetry(holder, this.clock, () => this.outcomes.commit(delivery, sent, holder.freeSlotIn));
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
}
