import { Injectable } from '@nestjs/common';
import { type Insertable, type Selectable, sql } from 'kysely';

import { AT_ONCE } from '../../blackboard/retention/cleanup.js';
import type { CorrelationCondition } from '../../blackboard/retention/settled-correlations.js';
import { locking, rowLock } from '../../database/dialects/dialect.js';
import { prepared, preparedInsert, preparedWithList } from '../../database/prepared.js';
import type { DeliveriesTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { changeState } from '../../queue/change-state.js';
import { isInState } from '../../queue/state-predicate.js';

export type DeliveryRow = Selectable<DeliveriesTable>;

export type NewDelivery = Pick<Insertable<DeliveriesTable>, (typeof NEW_COLUMNS)[number]>;

const OPEN = ['waiting', 'pending', 'running'] as const;

export type OpenCounts = Record<(typeof OPEN)[number], number>;

/** A pending delivery that waits for its target. */
interface ReadyDelivery {
  correlation_id: string;
  created_at: number;
  /** Time of the last attempt or of sending it again, otherwise of its creation (epoch ms). */
  since: number;
}

/** A delivery that ended. */
export interface EndedDelivery {
  id: string;
  correlation_id: string;
}

/** Maximum number of ready deliveries that one query reads. */
const READY_AT_ONCE = 1_000;

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

  async hasArtifact(tx: Transaction, seq: number): Promise<boolean> {
    return (await tx.db.selectFrom('artifacts').select('seq').where('seq', '=', seq).executeTakeFirst()) !== undefined;
  }

  /** Resets an ended delivery to a new one. `now` is epoch ms. */
  async begin(tx: Transaction, id: string, state: 'pending' | 'waiting', now: number): Promise<void> {
    const fresh = { attempt: 1, lost_leases: 0, available_at: null, ended_at: null, attempt_started_at: now };
    await changeState(tx.db, 'deliveries', ['delivered', 'dead'], state).set(fresh).where('id', '=', id).execute();
  }

  /** Counts the deliveries that have not ended, by state. */
  async countOpen(db: Reader): Promise<OpenCounts> {
    const { rows } = await sql<{ state: keyof OpenCounts; count: number }>`
      select state, count(*) as count from deliveries where state in (${sql.join(OPEN)}) group by state`.execute(db);
    return Object.assign(
      { waiting: 0, pending: 0, running: 0 },
      Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)])),
    );
  }

  /**
   * Returns ready deliveries of background work, or all if `background` is 0, in the order of claims, without the first
   * `passed`.
   */
  readyIn(db: Reader, from: { queue: string; background: number; passed: number }): Promise<ReadyDelivery[]> {
    return findReady(db, from);
  }

  /**
   * Ends up to `most` deliveries of these correlations to one target that have waited since `waitingSince` (epoch ms)
   * or longer. Returns the correlation of each. Leaves running deliveries and those with a scheduled attempt, because
   * they have further attempts.
   */
  async endWaiting(
    tx: Transaction,
    end: { target: string; waitingSince: number; now: number; error: string },
    correlationIds: readonly string[],
    most: number,
  ): Promise<string[]> {
    const ended = await endWaiting(tx.db, { ...end, most }, correlationIds);
    return ended.map(({ correlation_id }) => correlation_id);
  }

  /** Returns some deliveries after this position, in order. */
  after(db: Reader, position: number): Promise<{ seq: number; id: string; created_at: number }[]> {
    return findSome(db, { after: position });
  }

  /** Returns those of these deliveries that ended at or before `cutoff` (epoch ms). */
  endedAmong(db: Reader, cutoff: number, ids: readonly string[]): Promise<EndedDelivery[]> {
    return findEnded(db, { cutoff }, ids);
  }

  /** Deletes deliveries with their attempts. */
  async delete(tx: Transaction, ids: readonly string[]): Promise<void> {
    await deleteAttempts(tx.db, {}, ids);
    await deleteDeliveries(tx.db, {}, ids);
  }
}

export const hasDelivery: CorrelationCondition = ({ exists, selectFrom }) =>
  exists(
    selectFrom('deliveries').select('deliveries.seq').whereRef('deliveries.correlation_id', '=', 'correlations.id'),
  );

export const hasOpenDelivery: CorrelationCondition = ({ exists, selectFrom }) =>
  exists(
    selectFrom('deliveries')
      .select('deliveries.seq')
      .whereRef('deliveries.correlation_id', '=', 'correlations.id')
      .where('deliveries.ended_at', 'is', null),
  );

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
  'background',
  'attempt',
  'lost_leases',
  'traceparent',
  'created_at',
] as const;

const insertDeliveries = preparedInsert('deliveries', NEW_COLUMNS);

const holdCorrelation = rowLock<{ correlationId: string }>((db, place) =>
  db.selectFrom('correlations').select('id').where('id', '=', place('correlationId')),
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
  changeState(db, 'deliveries', ['waiting'], 'pending')
    .where('seq', '=', ({ selectFrom }) =>
      selectFrom('deliveries')
        .select('seq')
        .where('correlation_id', '=', place('correlationId'))
        .where('target_id', '=', place('targetId'))
        .where('ended_at', 'is', null)
        .orderBy('seq')
        .limit(1),
    )
    .returning('queue'),
);

// Has the order of the index; otherwise SQLite would scan the pending deliveries of all targets.
const findReady = prepared<{ queue: string; background: number; passed: number }, ReadyDelivery>((db, place) =>
  db
    .selectFrom('deliveries')
    .select(['correlation_id', 'created_at', sql<number>`coalesce(attempt_started_at, created_at)`.as('since')])
    .where('queue', '=', place('queue'))
    .where('state', '=', sql.lit('pending' as const))
    .where('available_at', 'is', null)
    .where('priority', '=', sql.lit(0))
    .where('background', '>=', place('background'))
    .orderBy('background')
    .orderBy('seq')
    .limit(READY_AT_ONCE)
    .offset(place('passed')),
);

const endWaiting = preparedWithList<
  { target: string; waitingSince: number; now: number; error: string; most: number },
  string,
  { correlation_id: string }
>((db, place, correlations) => {
  const waiting = db
    .selectFrom('deliveries')
    .select('id')
    .where('correlation_id', 'in', correlations)
    .where('target_id', '=', place('target'))
    .where('ended_at', 'is', null)
    .where(isInState('waiting', 'pending'))
    .where('available_at', 'is', null)
    .where(sql<number>`coalesce(attempt_started_at, created_at)`, '<=', place('waitingSince'))
    .orderBy('correlation_id')
    .orderBy('seq')
    .limit(place('most'));
  return changeState(db, 'deliveries', ['waiting', 'pending'], 'dead')
    .set({ ended_at: place('now'), last_status: null, last_error: place('error') })
    .where('id', 'in', locking(db, waiting, { wait: false }))
    .returning('correlation_id');
});

const findSome = prepared<{ after: number }, { seq: number; id: string; created_at: number }>((db, place) =>
  db
    .selectFrom('deliveries')
    .select(['seq', 'id', 'created_at'])
    .where('seq', '>', place('after'))
    .orderBy('seq')
    .limit(AT_ONCE),
);

const findEnded = preparedWithList<{ cutoff: number }, string, EndedDelivery>((db, place, ids) =>
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
