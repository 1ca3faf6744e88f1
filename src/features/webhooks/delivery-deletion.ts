import { Injectable, type OnModuleInit } from '@nestjs/common';

import type { Cleanup, Deletion } from '../../blackboard/retention/cleanup.js';
import { Retention } from '../../blackboard/retention/retention.js';
import { SettledCorrelations } from '../../blackboard/retention/settled-correlations.js';
import { Settings } from '../../config/settings.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { DeliveriesRepository, type EndedDelivery, hasDelivery, hasOpenDelivery } from './deliveries.repository.js';
import { WebhookTargetsRepository } from './webhook-targets.repository.js';

/**
 * Deletes deliveries that ended longer than `retain_deliveries` ago, with their attempts. While a delivery is open, the
 * artifacts of its correlation stay, because it sends one of them. The targets of a correlation are deleted with it.
 */
@Injectable()
export class DeliveryDeletion implements Deletion, OnModuleInit {
  readonly name = 'deliveries';

  constructor(
    private readonly settings: Settings,
    private readonly unitOfWork: UnitOfWork,
    private readonly retention: Retention,
    private readonly correlations: SettledCorrelations,
    private readonly deliveries: DeliveriesRepository,
    private readonly targets: WebhookTargetsRepository,
  ) {}

  onModuleInit(): void {
    this.retention.add(this);
    this.correlations.add({
      readsContent: hasOpenDelivery,
      names: hasDelivery,
      forget: (tx, ids) => this.targets.forgetCorrelations(tx, ids),
    });
  }

  async run(cleanup: Cleanup): Promise<number> {
    const cutoff = cleanup.cutoff(this.settings.retainDeliveriesMs);
    if (cutoff === null) return 0;
    const { reader } = this.unitOfWork;
    return cleanup.deleteEnded<EndedDelivery>(cutoff, {
      next: (after) => this.deliveries.after(reader, after),
      due: (ids) => this.deliveries.endedAmong(reader, cutoff, ids),
      remove: (tx, ended) => this.remove(tx, cleanup, cutoff, ended),
    });
  }

  private async remove(
    tx: Transaction,
    { settledBy }: Cleanup,
    cutoff: number,
    found: readonly EndedDelivery[],
  ): Promise<number> {
    const held = await this.correlations.hold(
      tx,
      found.map(({ correlation_id }) => correlation_id),
      settledBy,
    );
    const candidates = found.filter(({ correlation_id }) => held.includes(correlation_id)).map(({ id }) => id);
    // Read again under the lock, because a delivery may have been sent again before it. Sending again takes the same
    // lock.
    const ended = await this.deliveries.endedAmong(tx.db, cutoff, candidates);
    await this.deliveries.delete(
      tx,
      ended.map(({ id }) => id),
    );
    await this.correlations.removeEmpty(tx, held);
    return ended.length;
  }
}
