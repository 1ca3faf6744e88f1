import { Injectable } from '@nestjs/common';
import type { Selectable } from 'kysely';

import { AT_ONCE } from '../../blackboard/retention/cleanup.js';
import { keeping, locking } from '../../database/dialects/dialect.js';
import { prepared, preparedInsert, preparedWithList } from '../../database/prepared.js';
import type { WebhookTargetsTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';

/** A target without its state. */
export type WebhookTarget = Omit<Selectable<WebhookTargetsTable>, 'failing_since'>;

/** A target of a correlation, with the state of its group that the outbox needs. */
export interface DeliveryGroup {
  target_id: string;
  origin: string;
  /** 1 if the group has an open delivery. */
  is_busy: number;
}

@Injectable()
export class WebhookTargetsRepository {
  /**
   * Stores the target unless an equal one exists. Returns the id of the stored one, and locks it against deletion until
   * the end of the transaction.
   */
  async ensure(tx: Transaction, target: WebhookTarget): Promise<string> {
    const known = await findId(tx.db, { fingerprint: target.fingerprint });
    if (known.length === 0)
      await tx.db
        .insertInto('webhook_targets')
        .values(target)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    const [{ id }] = (known.length > 0 ? known : await findId(tx.db, { fingerprint: target.fingerprint })) as [
      { id: string },
    ];
    return id;
  }

  async isKnown(db: Reader, fingerprint: string): Promise<boolean> {
    return (
      (await db
        .selectFrom('webhook_targets')
        .select('id')
        .where('fingerprint', '=', fingerprint)
        .executeTakeFirst()) !== undefined
    );
  }

  async isTargetOf(tx: Transaction, correlationId: string, targetId: string): Promise<boolean> {
    return (await findOne(tx.db, { correlationId, targetId })).length > 0;
  }

  /** The transaction must have locked the correlation. */
  async add(tx: Transaction, correlationId: string, targetId: string, count: number): Promise<void> {
    await insertOne(tx.db, [{ correlation_id: correlationId, target_id: targetId }]);
    await setCount(tx.db, { correlationId, count });
  }

  groupsOf(tx: Transaction, correlationId: string): Promise<DeliveryGroup[]> {
    return findGroups(tx.db, { correlationId });
  }

  find(db: Reader, id: string): Promise<WebhookTarget | undefined> {
    return db.selectFrom('webhook_targets').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /**
   * Records that an attempt at `at` (epoch ms) failed, if its claim found the target working. A transaction locks
   * this row last, so that no transaction that waits for it holds a lock that the other one needs.
   */
  async noteFailing(tx: Transaction, id: string, at: number): Promise<void> {
    await setFailing(tx.db, { id, at });
  }

  /** Records that the target answered, if the claim found it failing. Locks the row last, like `noteFailing`. */
  async noteWorking(tx: Transaction, id: string): Promise<void> {
    await setWorking(tx.db, { id });
  }

  /** Returns when the target began to fail (epoch ms), or null if its last attempt succeeded. */
  async failingSince(db: Reader, id: string): Promise<number | null> {
    return (await findFailing(db, { id }))[0]?.failing_since ?? null;
  }

  /** Returns the sealed secrets of the newest `limit` targets that have any. */
  async newestSecrets(db: Reader, limit: number): Promise<string[]> {
    const rows = await db.selectFrom('webhook_targets').select('secrets').orderBy('id', 'desc').limit(limit).execute();
    return rows.map(({ secrets }) => secrets).filter((secrets) => secrets !== null);
  }

  /** Returns the ids of some targets of clients after this id, in order, that were created at or before `cutoff`. */
  async clientsAfter(db: Reader, after: string, cutoff: number): Promise<string[]> {
    return idsOf(await findClients(db, { after, cutoff }));
  }

  /** Returns those of these targets to which no delivery and no correlation refers. */
  async unusedAmong(db: Reader, ids: readonly string[]): Promise<string[]> {
    return idsOf(await findUnused(db, {}, ids));
  }

  /** Locks targets. Skips those that a publish has locked; a later cleanup deletes them. */
  async holdFree(tx: Transaction, ids: readonly string[]): Promise<string[]> {
    return idsOf(await holdFree(tx.db, {}, ids));
  }

  async delete(tx: Transaction, ids: readonly string[]): Promise<void> {
    await deleteTargets(tx.db, {}, ids);
  }

  /** Deletes which targets these correlations have. */
  async forgetCorrelations(tx: Transaction, correlationIds: readonly string[]): Promise<void> {
    await deleteOfCorrelations(tx.db, {}, correlationIds);
  }
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

const findId = prepared<{ fingerprint: string }, { id: string }>((db, place) =>
  keeping(db, db.selectFrom('webhook_targets').select('id').where('fingerprint', '=', place('fingerprint'))),
);

const findOne = prepared<{ correlationId: string; targetId: string }, { target_id: string }>((db, place) =>
  db
    .selectFrom('correlation_targets')
    .select('target_id')
    .where('correlation_id', '=', place('correlationId'))
    .where('target_id', '=', place('targetId')),
);

const insertOne = preparedInsert('correlation_targets', ['correlation_id', 'target_id']);

const setCount = prepared<{ correlationId: string; count: number }, unknown>((db, place) =>
  db
    .updateTable('correlations')
    .set({ webhook_targets: place('count') })
    .where('id', '=', place('correlationId')),
);

const findGroups = prepared<{ correlationId: string }, DeliveryGroup>((db, place) =>
  db
    .selectFrom('correlation_targets')
    .innerJoin('webhook_targets', 'webhook_targets.id', 'correlation_targets.target_id')
    .select(({ exists, selectFrom, lit, case: choose }) => [
      'correlation_targets.target_id',
      'webhook_targets.origin',
      choose()
        .when(
          exists(
            selectFrom('deliveries')
              .select('deliveries.seq')
              .whereRef('deliveries.correlation_id', '=', 'correlation_targets.correlation_id')
              .whereRef('deliveries.target_id', '=', 'correlation_targets.target_id')
              .where('deliveries.ended_at', 'is', null),
          ),
        )
        .then(lit(1))
        .else(lit(0))
        .end()
        .as('is_busy'),
    ])
    .where('correlation_targets.correlation_id', '=', place('correlationId')),
);

const setFailing = prepared<{ id: string; at: number }, unknown>((db, place) =>
  db
    .updateTable('webhook_targets')
    .set({ failing_since: place('at') })
    .where('id', '=', place('id'))
    .where('failing_since', 'is', null),
);

const setWorking = prepared<{ id: string }, unknown>((db, place) =>
  db
    .updateTable('webhook_targets')
    .set({ failing_since: null })
    .where('id', '=', place('id'))
    .where('failing_since', 'is not', null),
);

const findFailing = prepared<{ id: string }, { failing_since: number | null }>((db, place) =>
  db.selectFrom('webhook_targets').select('failing_since').where('id', '=', place('id')),
);

const findClients = prepared<{ after: string; cutoff: number }, { id: string }>((db, place) =>
  db
    .selectFrom('webhook_targets')
    .select('id')
    .where('id', '>', place('after'))
    .where('by', '=', 'client')
    .where('created_at', '<=', place('cutoff'))
    .orderBy('id')
    .limit(AT_ONCE),
);

const findUnused = preparedWithList<object, string, { id: string }>((db, _place, ids) =>
  db
    .selectFrom('webhook_targets')
    .select('id')
    .where('id', 'in', ids)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('deliveries').select('seq').whereRef('deliveries.target_id', '=', 'webhook_targets.id'))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('correlation_targets')
            .select('correlation_id')
            .whereRef('correlation_targets.target_id', '=', 'webhook_targets.id'),
        ),
      ),
    ),
);

const holdFree = preparedWithList<object, string, { id: string }>((db, _place, ids) =>
  locking(db, db.selectFrom('webhook_targets').select('id').where('id', 'in', ids), { wait: false }),
);

const deleteTargets = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('webhook_targets').where('id', 'in', ids),
);

const deleteOfCorrelations = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('correlation_targets').where('correlation_id', 'in', ids),
);
