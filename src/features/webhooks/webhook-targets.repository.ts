import { Injectable } from '@nestjs/common';
import type { Selectable } from 'kysely';
import { keeping } from '../../database/dialects/dialect.js';
import { prepared, preparedInsert } from '../../database/prepared.js';
import type { WebhookTargetsTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';

/** A target as it was given. */
export type WebhookTarget = Omit<Selectable<WebhookTargetsTable>, 'failing_since'>;

/** A target of a correlation, and what the outbox has to know of the group that leads there. */
export interface DeliveryGroup {
  target_id: string;
  origin: string;
  /** 1 where something of it has not ended. */
  is_busy: number;
}

@Injectable()
export class WebhookTargetsRepository {
  /** The id under which the target is stored: its own, or that of an equal one. It stays as long as the transaction. */
  async ensure(tx: Transaction, target: WebhookTarget): Promise<string> {
    const known = await findId(tx.db, { fingerprint: target.fingerprint });
    if (known.length === 0) await tx.db.insertInto('webhook_targets').values(target).onConflict((conflict) => conflict.doNothing()).execute();
    const [{ id }] = (known.length > 0 ? known : await findId(tx.db, { fingerprint: target.fingerprint })) as [{ id: string }];
    return id;
  }

  async isKnown(db: Reader, fingerprint: string): Promise<boolean> {
    return (await db.selectFrom('webhook_targets').select('id').where('fingerprint', '=', fingerprint).executeTakeFirst()) !== undefined;
  }

  async isTargetOf(tx: Transaction, correlationId: string, targetId: string): Promise<boolean> {
    return (await findOne(tx.db, { correlationId, targetId })).length > 0;
  }

  /** The correlation is held by the transaction. */
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
   * A try failed (`at`, epoch ms) whose claim found the target working. It is the last row that a transaction locks, so nobody who waits
   * for it holds what its holder needs.
   */
  async noteFailing(tx: Transaction, id: string, at: number): Promise<void> {
    await setFailing(tx.db, { id, at });
  }

  /** It answered a try whose claim found it failing. Locked as in `noteFailing`. */
  async noteWorking(tx: Transaction, id: string): Promise<void> {
    await setWorking(tx.db, { id });
  }

  /** Since when it fails (epoch ms); null where its last try did not. */
  async failingSince(db: Reader, id: string): Promise<number | null> {
    return (await findFailing(db, { id }))[0]?.failing_since ?? null;
  }

  /** The newest ones, as far as they have secrets. */
  async newestSecrets(db: Reader, limit: number): Promise<string[]> {
    const rows = await db.selectFrom('webhook_targets').select('secrets').orderBy('id', 'desc').limit(limit).execute();
    return rows.map(({ secrets }) => secrets).filter((secrets) => secrets !== null);
  }
}

const findId = prepared<{ fingerprint: string }, { id: string }>((db, place) =>
  keeping(db, db.selectFrom('webhook_targets').select('id').where('fingerprint', '=', place('fingerprint'))),
);

const findOne = prepared<{ correlationId: string; targetId: string }, { target_id: string }>((db, place) =>
  db.selectFrom('correlation_targets').select('target_id').where('correlation_id', '=', place('correlationId')).where('target_id', '=', place('targetId')),
);

const insertOne = preparedInsert('correlation_targets', ['correlation_id', 'target_id']);

const setCount = prepared<{ correlationId: string; count: number }, unknown>((db, place) =>
  db.updateTable('correlations').set({ webhook_targets: place('count') }).where('id', '=', place('correlationId')),
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
  db.updateTable('webhook_targets').set({ failing_since: place('at') }).where('id', '=', place('id')).where('failing_since', 'is', null),
);

const setWorking = prepared<{ id: string }, unknown>((db, place) =>
  db.updateTable('webhook_targets').set({ failing_since: null }).where('id', '=', place('id')).where('failing_since', 'is not', null),
);

const findFailing = prepared<{ id: string }, { failing_since: number | null }>((db, place) =>
  db.selectFrom('webhook_targets').select('failing_since').where('id', '=', place('id')),
);
