import { Inject, Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { ClaimingLoop } from '../../queue/claiming-loop.js';
import { Slots } from '../../queue/slots.js';
import { DeliveryAttempts } from './delivery-attempts.js';
import { type ClaimedDelivery, DeliveryClaims } from './delivery-claims.js';
import { DeliveryLeases } from './delivery-leases.js';
import { type LeasedDelivery, originOf } from './delivery-queue.js';
import type { ContentRow } from './delivery-queues.repository.js';
import { TargetBreaker } from './target-breaker.js';

/**
 * Maximum number of deliveries that one process sends at the same time: to one target that works, to all targets of one
 * origin, and in total. A few slow targets therefore do not delay the others.
 */
export const AT_ONCE_TO_TARGET = 16;
const AT_ONCE_TO_ORIGIN = 64;
const AT_ONCE = 256;

/** Claims pending deliveries from the queues of their targets as slots become free, and starts their attempts. */
@Injectable()
export class DeliveryLoop extends ClaimingLoop<ClaimedDelivery, LeasedDelivery, ContentRow> {
  constructor(
    clock: Clock,
    unitOfWork: UnitOfWork,
    signals: Signals,
    claims: DeliveryClaims,
    leases: DeliveryLeases,
    breaker: TargetBreaker,
    attempts: DeliveryAttempts,
    @Inject(LOGGER) logger: Logger,
  ) {
    super(
      {
        name: 'deliveries',
        isLimitShared: () => false,
        queueOf: ({ queue }) => queue,
        queues: () => claims.readyQueues(),
        claim: (tx, slots, lease) => claims.claim(tx, slots, lease),
        start: (delivery, abort, holder) => attempts.start(delivery, abort.signal, holder),
      },
      new Slots((queue) => breaker.limitOf(queue), AT_ONCE, { of: originOf, limit: AT_ONCE_TO_ORIGIN }),
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
}
