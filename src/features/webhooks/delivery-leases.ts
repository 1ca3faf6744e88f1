import { Inject, Injectable } from '@nestjs/common';

import { Processes } from '../../blackboard/processes/processes.js';
import type { BackgroundLoop } from '../../common/background-loop.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Settings } from '../../config/settings.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { leaseHeartbeat } from '../../queue/lease-heartbeat.js';
import { type LostRow, RowLeases } from '../../queue/row-leases.js';
import { DeliveryOutcomes } from './delivery-outcomes.js';
import { DELIVERIES, type LeasedDelivery } from './delivery-queue.js';

/**
 * The leases of running deliveries. A delivery whose lease was lost is sent again as the same attempt, so its
 * receiver may get it twice.
 */
@Injectable()
export class DeliveryLeases {
  readonly rows: RowLeases<LeasedDelivery>;

  constructor(
    private readonly settings: Settings,
    processes: Processes,
    private readonly clock: Clock,
    unitOfWork: UnitOfWork,
    outcomes: DeliveryOutcomes,
    signals: Signals,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const holder = {
      owner: processes.own,
      leaseMs: settings.leaseMs,
      giveUp: (tx: Transaction, lost: LostRow<LeasedDelivery>) => outcomes.giveUp(tx, ending(lost), lostTooOften(lost)),
      returned: (queue: string) => signals.deliveryReturned.publishEverywhere(queue),
    };
    this.rows = new RowLeases(DELIVERIES, holder, clock, unitOfWork);
  }

  /** Renews the leases of the running deliveries and takes over those that other processes lost, until it is stopped. */
  keep(runningIds: () => string[]): BackgroundLoop {
    const beat = async (): Promise<void> => {
      await this.rows.renew(runningIds());
      await this.rows.takeOverLost();
    };
    const { clock, logger } = this;
    return leaseHeartbeat(this.settings.leaseMs, beat, {
      clock,
      logger,
      failure: 'leases of deliveries could not be renewed',
    });
  }
}

const lostTooOften = ({ lost_leases }: LostRow<LeasedDelivery>): string =>
  `its lease expired ${lost_leases} times: the sending process stopped, or could not store the outcome`;

const ending = (lost: LostRow<LeasedDelivery>) => ({
  id: lost.id,
  correlationId: lost.correlation_id,
  attempt: lost.attempt,
  leaseToken: lost.lease_token,
  target: { id: lost.target_id },
});
