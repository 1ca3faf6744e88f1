import { Injectable } from '@nestjs/common';
import type { Insertable, Selectable } from 'kysely';

import { places, prepared, preparedInsert } from '../../database/prepared.js';
import type { DeliveriesTable, DeliveryAttemptsTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { changeState } from '../../queue/change-state.js';
import { NO_LEASE } from '../../queue/leased-rows.js';

export type AttemptRow = Selectable<DeliveryAttemptsTable>;

const CHANGED = ['attempt', 'available_at', 'ended_at', 'last_status', 'last_error'] as const;

/** The columns of a delivery that the outcome of an attempt sets. */
export type DeliveryChange = Pick<Selectable<DeliveriesTable>, (typeof CHANGED)[number]> & {
  state: 'pending' | 'delivered' | 'dead';
};

/** The attempts of deliveries and their outcomes. */
@Injectable()
export class DeliveryAttemptsRepository {
  /** Releases the lease of a delivery. Returns false if this process does not have it; nothing is changed then. */
  async releaseLease(
    tx: Transaction,
    { id, leaseToken }: { id: string; leaseToken: string },
    change: DeliveryChange,
  ): Promise<boolean> {
    return (await updateUnderLease(tx.db, { id, leaseToken, ...change })).length > 0;
  }

  record(tx: Transaction, attempt: Pick<Insertable<DeliveryAttemptsTable>, (typeof RECORDED)[number]>): Promise<void> {
    return insertAttempts(tx.db, [attempt]);
  }

  /** Returns the attempts of a delivery in the order in which they were made. */
  of(db: Reader, deliveryId: string): Promise<AttemptRow[]> {
    return db
      .selectFrom('delivery_attempts')
      .selectAll()
      .where('delivery_id', '=', deliveryId)
      .orderBy('seq')
      .execute();
  }

  /**
   * Returns the start of a delivery's first attempt (epoch ms), or undefined if it has none. The newest first
   * attempt counts, because sending a delivery again starts at attempt 1.
   */
  async firstStart(db: Reader, deliveryId: string): Promise<number | undefined> {
    const [first] = await findFirst(db, { deliveryId });
    return first?.started_at;
  }
}

const updateUnderLease = prepared<DeliveryChange & { id: string; leaseToken: string }, { id: string }>((db, place) =>
  changeState(db, 'deliveries', ['running'], place('state'))
    .set({ ...places(place, CHANGED), ...NO_LEASE })
    .where('id', '=', place('id'))
    .where('lease_token', '=', place('leaseToken'))
    .returning('id'),
);

const RECORDED = ['delivery_id', 'attempt', 'started_at', 'duration_ms', 'status', 'error'] as const;

const insertAttempts = preparedInsert('delivery_attempts', RECORDED);

const findFirst = prepared<{ deliveryId: string }, { started_at: number }>((db, place) =>
  db
    .selectFrom('delivery_attempts')
    .select('started_at')
    .where('delivery_id', '=', place('deliveryId'))
    .where('attempt', '=', 1)
    .orderBy('seq', 'desc')
    .limit(1),
);
