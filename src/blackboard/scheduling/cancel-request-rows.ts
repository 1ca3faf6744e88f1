import { type Selectable, sql } from 'kysely';

import { dialectOf } from '../../database/dialects/dialect.js';
import { prepared } from '../../database/prepared.js';
import type { CancelRequestsTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { UNKNOWN_KEY } from '../matching/cancel-keys.js';
import { replayIn } from '../matching/replay-keys.js';

export type CancelRequest = Selectable<CancelRequestsTable>;

/** The key of executions whose key is not computed yet, and may be this one. */
const unknownKeyLike = (key: string): string => UNKNOWN_KEY + replayIn(key);

/** Stores the request if there are such executions. Returns its id. */
export async function insertRequest(
  { db }: Transaction,
  request: Omit<CancelRequest, 'up_to_seq' | 'singleton'>,
): Promise<string | undefined> {
  const [row] = await insertIfAny(db, { ...request, unknown_key: unknownKeyLike(request.cancel_key) });
  return row?.id;
}

type NewRequest = Omit<CancelRequest, 'up_to_seq' | 'singleton'> & { unknown_key: string };

const insertIfAny = prepared<NewRequest, { id: string }>((db, place) => {
  const text = (name: keyof NewRequest) => sql<string>`cast(${place(name)} as text)`;
  const upToNow = dialectOf(db).lastPosition('executions');
  const values = [text('id'), text('agent'), text('cancel_key'), upToNow, text('artifact_id')];
  return db
    .insertInto('cancel_requests')
    .columns(['id', 'agent', 'cancel_key', 'up_to_seq', 'artifact_id'])
    .expression(
      sql`select ${sql.join(values)} where exists (
        select 1 from executions
        where agent = ${place('agent')} and cancel_key in (${place('cancel_key')}, ${place('unknown_key')})
          and cancel_key is not null and ended_at is null
      )`,
    )
    .returning('id');
});

/** Stores a request by a key of `singleton`. */
export async function insertSingletonRequest(
  { db }: Transaction,
  request: Omit<CancelRequest, 'singleton'>,
): Promise<void> {
  await db
    .insertInto('cancel_requests')
    .values({ ...request, singleton: 1 })
    .execute();
}

export const findRequest = (db: Reader, id: string): Promise<CancelRequest | undefined> =>
  db.selectFrom('cancel_requests').selectAll().where('id', '=', id).executeTakeFirst();

export async function deleteRequest({ db }: Transaction, id: string): Promise<void> {
  await db.deleteFrom('cancel_requests').where('id', '=', id).execute();
}

function openWithKey(db: Reader, { agent, up_to_seq, singleton }: CancelRequest, key: string) {
  const column = singleton === 1 ? 'singleton_key' : 'cancel_key';
  return db
    .selectFrom('executions')
    .where('agent', '=', agent)
    .where(column, '=', key)
    .where(column, 'is not', null)
    .where('ended_at', 'is', null)
    .where('seq', '<=', up_to_seq);
}

/** Finds the first executions that the request cancels. */
export const findRequested = (
  { db }: Transaction,
  request: CancelRequest,
  limit: number,
): Promise<{ id: string; correlation_id: string }[]> =>
  openWithKey(db, request, request.cancel_key).select(['id', 'correlation_id']).orderBy('seq').limit(limit).execute();

/**
 * Whether an execution may turn out to be among those of the request when its key is computed. With `singleton`, what
 * computes a key also cancels by it.
 */
export async function isKeyUnknown({ db }: Transaction, request: CancelRequest): Promise<boolean> {
  if (request.singleton === 1) return false;
  const unknown = openWithKey(db, request, unknownKeyLike(request.cancel_key)).select('id').limit(1);
  return (await unknown.executeTakeFirst()) !== undefined;
}
