import { Injectable } from '@nestjs/common';
import type { Insertable, Selectable } from 'kysely';

import { locking } from '../../database/dialects/dialect.js';
import { prepared, preparedInsert } from '../../database/prepared.js';
import type { DeliveriesTable, DeliveryAttemptsTable, DeliveryState } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { isInState } from '../../queue/state-predicate.js';

export type DeliveryRow = Selectable<DeliveriesTable>;
export type AttemptRow = Selectable<DeliveryAttemptsTable>;

export type NewDelivery = Pick<Insertable<DeliveriesTable>, (typeof NEW_COLUMNS)[number]>;

export interface DeliveryFilter {
  state: DeliveryState | null;
  targetId: string | null;
  correlationId: string | null;
  artifactId: string | null;
}

export interface ListPage {
  limit: number;
  offset: number;
}

/**
 * Deliveries. A group is a correlation's deliveries to one target. Code that reads a whole group must lock the
 * correlation first and then change deliveries. A publish and the end of a delivery lock in the same order, which
 * avoids deadlocks.
 */
@Injectable()
export class DeliveriesRepository {
  insert(tx: Transaction, deliveries: readonly NewDelivery[]): Promise<void> {
    return insertDeliveries(tx.db, deliveries);
  }

  /** Locks the correlation's groups until the end of the transaction. */
  async holdGroups(tx: Transaction, correlationId: string): Promise<void> {
    await holdCorrelation(tx.db, { correlationId });
  }

  /** Locks the groups of several correlations in a fixed order, so that transactions do not deadlock. */
  async holdAllGroups(tx: Transaction, correlationIds: readonly string[]): Promise<void> {
    await Promise.all([...new Set(correlationIds)].sort().map((id) => this.holdGroups(tx, id)));
  }

  /**
   * Makes the first open delivery of a group pending, if it was waiting. Returns its queue; empty if nothing changed.
   */
  beginNext(tx: Transaction, correlationId: string, targetId: string): Promise<{ queue: string }[]> {
    return beginNext(tx.db, { correlationId, targetId });
  }

  /** Whether the group has an open delivery. */
  async isBusy(tx: Transaction, correlationId: string, targetId: string): Promise<boolean> {
    return (await findOpen(tx.db, { correlationId, targetId })).length > 0;
  }

  find(db: Reader, id: string): Promise<DeliveryRow | undefined> {
    return db.selectFrom('deliveries').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** Returns the attempts in the order in which they were made. */
  attemptsOf(db: Reader, id: string): Promise<AttemptRow[]> {
    return db.selectFrom('delivery_attempts').selectAll().where('delivery_id', '=', id).orderBy('seq').execute();
  }

  async hasArtifact(tx: Transaction, seq: number): Promise<boolean> {
    return (await tx.db.selectFrom('artifacts').select('seq').where('seq', '=', seq).executeTakeFirst()) !== undefined;
  }

  /** Resets an ended delivery to a new one. `now` is epoch ms. */
  async begin(tx: Transaction, id: string, state: 'pending' | 'waiting', now: number): Promise<void> {
    const fresh = { state, attempt: 1, lost_leases: 0, available_at: null, ended_at: null, attempt_started_at: now };
    await tx.db.updateTable('deliveries').set(fresh).where('id', '=', id).execute();
  }

  /** Returns the page, newest first, plus one further row where more rows match. */
  list(
    db: Reader,
    { state, targetId, correlationId, artifactId }: DeliveryFilter,
    { limit, offset }: ListPage,
  ): Promise<DeliveryRow[]> {
    let query = db
      .selectFrom('deliveries')
      .selectAll()
      .orderBy('seq', 'desc')
      .limit(limit + 1)
      .offset(offset);
    if (state !== null) query = query.where('state', '=', state);
    if (targetId !== null) query = query.where('target_id', '=', targetId);
    if (correlationId !== null) query = query.where('correlation_id', '=', correlationId);
    if (artifactId !== null) query = query.where('artifact_id', '=', artifactId);
    return query.execute();
  }
}

const NEW_COLUMNS = [
  'id',
  'target_id',
  'queue',
  'correlation_id',
  'artifact_seq',
  'artifact_id',
  'sequence',
  'state',
  'priority',
  'attempt',
  'lost_leases',
  'traceparent',
  'created_at',
] as const;

const insertDeliveries = preparedInsert('deliveries', NEW_COLUMNS);

const holdCorrelation = prepared<{ correlationId: string }, unknown>((db, place) =>
  locking(db, db.selectFrom('correlations').select('id').where('id', '=', place('correlationId')), { wait: true }),
);

const findOpen = prepared<{ correlationId: string; targetId: string }, { seq: number }>((db, place) =>
  db
    .selectFrom('deliveries')
    .select('seq')
    .where('correlation_id', '=', place('correlationId'))
    .where('target_id', '=', place('targetId'))
    .where('ended_at', 'is', null)
    .limit(1),
);

const beginNext = prepared<{ correlationId: string; targetId: string }, { queue: string }>((db, place) =>
  db
    .updateTable('deliveries')
    .set({ state: 'pending' })
    .where('seq', '=', ({ selectFrom }) =>
      selectFrom('deliveries')
        .select('seq')
        .where('correlation_id', '=', place('correlationId'))
        .where('target_id', '=', place('targetId'))
        .where('ended_at', 'is', null)
        .orderBy('seq')
        .limit(1),
    )
    .where(isInState('waiting'))
    .returning('queue'),
);
