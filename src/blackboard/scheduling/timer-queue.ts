import { Injectable } from '@nestjs/common';
import { type RawBuilder, type Selectable, type SelectQueryBuilder, sql, type SqlBool } from 'kysely';

import { newId } from '../../common/ids.js';
import { amongFound } from '../../database/dialects/dialect.js';
import { prepared, preparedInsert, preparedWithList } from '../../database/prepared.js';
import type { Schema, TimersTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import type { SubscriptionPlace } from '../matching/subscription-numbers.js';
import type { KnownWork } from '../processes/known-work.js';
import { WaitingArrivals } from './waiting-arrivals.js';

export type Timer = Selectable<TimersTable>;

/**
 * Durable timers, which survive a restart. Callers count a timer as pending in the correlations that it keeps active.
 */
@Injectable()
export class TimerQueue {
  constructor(
    private readonly signals: Signals,
    private readonly arrivals: WaitingArrivals,
  ) {}

  async set(tx: Transaction, kind: Timer['kind'], dueAt: number, subject: string): Promise<void> {
    await insertTimers(tx.db, [{ id: newId(), kind, due_at: dueAt, subject }]);
    if (kind === 'release') this.arrivals.changed(tx, 1);
    tx.afterCommit(() => this.signals.timerSet.publish(dueAt));
  }

  /**
   * Removes a timer that fires. False if another transaction has removed it before; then its work must not run again.
   */
  async end(tx: Transaction, timer: Timer): Promise<boolean> {
    const { numDeletedRows } = await tx.db.deleteFrom('timers').where('id', '=', timer.id).executeTakeFirst();
    if (timer.kind === 'release') this.arrivals.changed(tx, -Number(numDeletedRows));
    return numDeletedRows > 0n;
  }

  /**
   * Postpones a timer that could not be fired until `at` (epoch ms). False if another transaction has removed or
   * postponed it before.
   */
  async stepBack(tx: Transaction, { id, due_at }: Timer, at: number): Promise<boolean> {
    const { numUpdatedRows } = await tx.db
      .updateTable('timers')
      .set(({ eb, fn, ref }) => ({
        due_at: at,
        was_due_at: fn.coalesce('was_due_at', ref('due_at')),
        failures: eb('failures', '+', 1),
      }))
      .where('id', '=', id)
      .where('due_at', '=', due_at)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async cancel(tx: Transaction, kind: Timer['kind'], subject: string): Promise<void> {
    await deleteTimer(tx.db, { kind, subject });
  }

  /** Cancels the `due` timers of these executions. */
  async cancelDue(tx: Transaction, executionIds: readonly string[]): Promise<void> {
    await deleteDue(tx.db, {}, executionIds);
  }

  /** Cancels the releases of this correlation's artifacts, so that they trigger nothing. */
  async cancelReleases(tx: Transaction, correlationId: string): Promise<void> {
    const own = tx.db
      .selectFrom('artifacts')
      .select(sql<string>`cast(seq as text)`.as('subject'))
      .where('correlation_id', '=', correlationId);
    const { numDeletedRows } = await tx.db
      .deleteFrom('timers')
      .where('kind', '=', 'release')
      .where(amongFound(tx.db, 'subject', own))
      .executeTakeFirst();
    this.arrivals.changed(tx, -Number(numDeletedRows));
  }

  /** Due timers in order of time, without those whose agent or subscription only other processes have. */
  async due(reader: Reader, now: number, limit: number, known: KnownWork): Promise<Timer[]> {
    return firedHere(known, reader.selectFrom('timers').selectAll().where('due_at', '<=', now))
      .orderBy('due_at')
      .orderBy('id')
      .limit(limit)
      .execute();
  }

  /** When the next of these timers is due (epoch ms); null if none is set. */
  async next(reader: Reader, known: KnownWork): Promise<number | null> {
    const set = reader.selectFrom('timers').select('due_at').where('due_at', '<', PARKED_AT);
    const row = await firedHere(known, set).orderBy('due_at').limit(1).executeTakeFirst();
    return row?.due_at ?? null;
  }
}

/**
 * `due_at` of a timer that waits for a process with its agent or subscription. The time never comes, so looking for due
 * timers does not read it.
 */
export const PARKED_AT = Number.MAX_SAFE_INTEGER;

type Timers<Row> = SelectQueryBuilder<Schema, 'timers', Row>;

function firedHere<Row>({ agentsElsewhere, subscriptionsElsewhere }: KnownWork, timers: Timers<Row>): Timers<Row> {
  let fired = timers;
  if (agentsElsewhere.length > 0) fired = withoutAgents(fired, agentsElsewhere);
  if (subscriptionsElsewhere.length > 0) fired = withoutSubscriptions(fired, subscriptionsElsewhere);
  return fired;
}

const withoutAgents = <Row>(timers: Timers<Row>, agents: readonly string[]): Timers<Row> =>
  timers
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('join_groups')
            .select('join_groups.id')
            .whereRef('join_groups.id', '=', 'timers.subject')
            .where('join_groups.agent', 'in', agents),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('executions')
            .select('executions.id')
            .whereRef('executions.id', '=', 'timers.subject')
            .where('executions.agent', 'in', agents),
        ),
      ),
    );

const withoutSubscriptions = <Row>(timers: Timers<Row>, places: readonly SubscriptionPlace[]): Timers<Row> =>
  timers.where(({ not, exists, selectFrom }) =>
    not(
      exists(
        selectFrom('join_groups')
          .select('join_groups.id')
          .whereRef('join_groups.id', '=', 'timers.subject')
          .where(isAmong(places)),
      ),
    ),
  );

/** Whether a row of `join_groups` belongs to one of these subscriptions. */
export const isAmong = (places: readonly SubscriptionPlace[]): RawBuilder<SqlBool> =>
  sql<SqlBool>`(join_groups.agent, join_groups.subscription) in (values ${sql.join(places.map(({ agent, subscription }) => sql`(${agent}, cast(${subscription} as integer))`))})`;

const insertTimers = preparedInsert('timers', ['id', 'kind', 'due_at', 'subject']);

const deleteTimer = prepared<Pick<Timer, 'kind' | 'subject'>, unknown>((db, place) =>
  db.deleteFrom('timers').where('subject', '=', place('subject')).where('kind', '=', place('kind')),
);

const deleteDue = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('timers').where('subject', 'in', ids).where('kind', '=', 'due'),
);
