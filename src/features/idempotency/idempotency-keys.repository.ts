import { Injectable } from '@nestjs/common';
import type { Selectable } from 'kysely';

import { prepared } from '../../database/prepared.js';
import type { IdempotencyKeysTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { RequestIds } from './request-ids.js';

/** Keys are scoped to an endpoint. */
export interface ScopedKey {
  endpoint: string;
  key: string;
}

export interface KeyRow {
  /** The hash that StoredHashes makes for storage. */
  requestHash: string;
  ids: RequestIds;
  owner: string;
  /** Epoch ms. */
  leaseUntil: number;
  /** Null while the first request is running. */
  answer: StoredAnswer | null;
}

/** A stored answer: its JSON, or the JSON of its pieces if it is large. */
export type StoredAnswer = { response: string } | { pieces: string };

@Injectable()
export class IdempotencyKeysRepository {
  /** Returns `undefined` if the key is unknown or has expired. */
  async find(db: Reader, { endpoint, key }: ScopedKey, now: number): Promise<KeyRow | undefined> {
    const [row] = await findKey(db, { endpoint, key, now });
    return (
      row && {
        requestHash: row.request_hash,
        ids: JSON.parse(row.ids) as RequestIds,
        owner: row.owner,
        leaseUntil: row.lease_until,
        answer: answerOf(row),
      }
    );
  }

  /** Reserves a key that is new or has expired. Returns false if another process was faster. */
  async insert(
    tx: Transaction,
    key: ScopedKey,
    row: Omit<KeyRow, 'answer'>,
    expiresAt: number,
    now: number,
  ): Promise<boolean> {
    const values = {
      request_hash: row.requestHash,
      ids: JSON.stringify(row.ids),
      owner: row.owner,
      lease_until: row.leaseUntil,
      response: null,
      pieces: null,
      expires_at: expiresAt,
    };
    const { numInsertedOrUpdatedRows } = await tx.db
      .insertInto('idempotency_keys')
      .values({ endpoint: key.endpoint, key: key.key, ...values })
      .onConflict((conflict) =>
        conflict.columns(['endpoint', 'key']).doUpdateSet(values).where('idempotency_keys.expires_at', '<=', now),
      )
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }

  /**
   * Gives a dead reservation to a new owner. Returns false if another process was faster. The expiry stays, because
   * the artifacts and batches that the key names may be deleted after it.
   */
  async takeOver(
    tx: Transaction,
    key: ScopedKey,
    dead: KeyRow,
    next: Pick<KeyRow, 'owner' | 'leaseUntil' | 'requestHash'>,
  ): Promise<boolean> {
    const { numUpdatedRows } = await this.unanswered(tx, key, dead.owner)
      .set({ owner: next.owner, lease_until: next.leaseUntil, request_hash: next.requestHash })
      .where('lease_until', '=', dead.leaseUntil)
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  }

  async renew(tx: Transaction, key: ScopedKey, owner: string, leaseUntil: number): Promise<void> {
    await this.unanswered(tx, key, owner).set({ lease_until: leaseUntil }).execute();
  }

  /**
   * Stores the answer. Returns false if the owner does not have the key. The expiry stays if `expiresAt` is null.
   */
  async answer(
    tx: Transaction,
    key: ScopedKey,
    owner: string,
    answer: StoredAnswer,
    expiresAt: number | null,
  ): Promise<boolean> {
    const { numUpdatedRows } = await this.unanswered(tx, key, owner)
      .set({ ...answer, ...(expiresAt !== null && { expires_at: expiresAt }) })
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  }

  async remove(tx: Transaction, { endpoint, key }: ScopedKey, owner: string): Promise<void> {
    await tx.db
      .deleteFrom('idempotency_keys')
      .where('endpoint', '=', endpoint)
      .where('key', '=', key)
      .where('owner', '=', owner)
      .where('response', 'is', null)
      .where('pieces', 'is', null)
      .execute();
  }

  /**
   * Removes the first `limit` expired keys in the order of expiry, and those that expired at the same time as the last
   * of them. Returns the number of removed keys.
   */
  async removeExpired(tx: Transaction, now: number, limit: number): Promise<number> {
    const expired = tx.db
      .selectFrom('idempotency_keys')
      .select('expires_at')
      .where('expires_at', '<=', now)
      .orderBy('expires_at');
    const last = await expired
      .offset(limit - 1)
      .limit(1)
      .executeTakeFirst();
    const { numDeletedRows } = await tx.db
      .deleteFrom('idempotency_keys')
      .where('expires_at', '<=', last?.expires_at ?? now)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }

  /** Whether the artifact or the batch with this id is stored. */
  async isMade(tx: Transaction, { madeId }: RequestIds): Promise<boolean> {
    const artifact = await tx.db.selectFrom('artifacts').select('seq').where('id', '=', madeId).executeTakeFirst();
    if (artifact) return true;
    const batch = await tx.db
      .selectFrom('batches')
      .select('seq')
      .where('id', '=', madeId)
      .where('status', '<>', 'importing')
      .executeTakeFirst();
    return batch !== undefined;
  }

  private unanswered(tx: Transaction, { endpoint, key }: ScopedKey, owner: string) {
    return tx.db
      .updateTable('idempotency_keys')
      .where('endpoint', '=', endpoint)
      .where('key', '=', key)
      .where('owner', '=', owner)
      .where('response', 'is', null)
      .where('pieces', 'is', null);
  }
}

type StoredKey = Pick<
  Selectable<IdempotencyKeysTable>,
  'request_hash' | 'ids' | 'owner' | 'lease_until' | 'response' | 'pieces'
>;

function answerOf({ response, pieces }: Pick<StoredKey, 'response' | 'pieces'>): StoredAnswer | null {
  if (response !== null) return { response };
  return pieces === null ? null : { pieces };
}

const findKey = prepared<ScopedKey & { now: number }, StoredKey>((db, place) =>
  db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'ids', 'owner', 'lease_until', 'response', 'pieces'])
    .where('endpoint', '=', place('endpoint'))
    .where('key', '=', place('key'))
    .where('expires_at', '>', place('now')),
);
