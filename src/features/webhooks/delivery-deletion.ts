import { Injectable, type OnModuleInit } from '@nestjs/common';
import { sql } from 'kysely';

import { AT_ONCE, type Cleanup, type Deletion } from '../../blackboard/retention/cleanup.js';
import { Retention } from '../../blackboard/retention/retention.js';
import { SettledCorrelations } from '../../blackboard/retention/settled-correlations.js';
import { Settings } from '../../config/settings.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';

interface Ended {
  id: string;
  correlation_id: string;
}

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
  ) {}

  onModuleInit(): void {
    this.retention.add(this);
    this.correlations.add({
      readsContent: ({ exists, selectFrom }) =>
        exists(
          selectFrom('deliveries')
            .select('deliveries.seq')
            .whereRef('deliveries.correlation_id', '=', 'correlations.id')
            .where('deliveries.ended_at', 'is', null),
        ),
      names: ({ exists, selectFrom }) =>
        exists(
          selectFrom('deliveries')
            .select('deliveries.seq')
            .whereRef('deliveries.correlation_id', '=', 'correlations.id'),
        ),
      forget: async (tx, ids) => void (await deleteTargets(tx.db, {}, ids)),
    });
  }

  async run(cleanup: Cleanup): Promise<number> {
    const cutoff = cleanup.cutoff(this.settings.retainDeliveriesMs);
    if (cutoff === null) return 0;
    const { reader } = this.unitOfWork;
    return cleanup.deleteEnded<Ended>(cutoff, {
      next: (after) => findSome(reader, { after }),
      due: (ids) => findEnded(reader, { cutoff }, ids),
      remove: (tx, ended) => this.remove(tx, cleanup, cutoff, ended),
    });
  }

  private async remove(
    tx: Transaction,
    { settledBy }: Cleanup,
    cutoff: number,
    found: readonly Ended[],
  ): Promise<number> {
    const held = await this.correlations.hold(
      tx,
      found.map(({ correlation_id }) => correlation_id),
      settledBy,
    );
    const candidates = found.filter(({ correlation_id }) => held.includes(correlation_id)).map(({ id }) => id);
    // Read again under the lock, because a delivery may have been sent again before it. Sending again takes the same
    // lock.
    const ended = await findEnded(tx.db, { cutoff }, candidates);
    const ids = ended.map(({ id }) => id);
    await deleteAttempts(tx.db, {}, ids);
    await deleteDeliveries(tx.db, {}, ids);
    await this.correlations.removeEmpty(tx, held);
    return ids.length;
  }
}

const findSome = prepared<{ after: number }, { seq: number; id: string; created_at: number }>((db, place) =>
  db
    .selectFrom('deliveries')
    .select(['seq', 'id', 'created_at'])
    .where('seq', '>', place('after'))
    .orderBy('seq')
    .limit(AT_ONCE),
);

const findEnded = preparedWithList<{ cutoff: number }, string, Ended>((db, place, ids) =>
  db
    .selectFrom('deliveries')
    .select(['id', 'correlation_id'])
    .where('id', 'in', ids)
    .where(sql<number>`coalesce(ended_at, ${sql.lit(Number.MAX_SAFE_INTEGER)})`, '<=', place('cutoff')),
);

const deleteAttempts = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('delivery_attempts').where('delivery_id', 'in', ids),
);

const deleteDeliveries = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('deliveries').where('id', 'in', ids),
);

const deleteTargets = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('correlation_targets').where('correlation_id', 'in', ids),
);
