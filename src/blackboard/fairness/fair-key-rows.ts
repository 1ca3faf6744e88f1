import { type RawBuilder, sql } from 'kysely';

import { locking } from '../../database/dialects/dialect.js';
import { prepared, preparedInsert, preparedWithList } from '../../database/prepared.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { Queue, QueuedRow } from '../../queue/queue.js';
import { firstReady } from '../../queue/ready-rows.js';
import { isInState } from '../../queue/state-predicate.js';

/** Whether an execution is ready and has a key. The index `executions_fair` has this condition, and no other index fits it. */
export const isReadyWithKey = sql<boolean>`case when state = 'pending' and available_at is null then fair_key end is not null`;

export interface FairKeyRow {
  fair_key: string;
  turn: number;
  weight: number;
}

/**
 * Makes a query for the keys after a place in their order, and whether executions of them are ready. A key may have
 * several rows. `virtual_time`: that of the agent, which is the same in all rows.
 */
export const findingKeys = <Row extends QueuedRow>(queue: Queue<Row>) =>
  prepared<
    { agent: string; turn: number; key: string; limit: number },
    FairKeyRow & { ready: number | null; virtual_time: number }
  >((db, place) => {
    const first = firstReady(db, queue, place('agent'), sql.lit(1), (rows) =>
      rows.where(isReadyWithKey).where(sql<boolean>`executions.fair_key = fair_keys.fair_key`),
    );
    return db
      .selectFrom('fair_keys')
      .select([
        'fair_key',
        'turn',
        'weight',
        sql<number | null>`(select seq from ${first} as ready)`.as('ready'),
        sql<number>`coalesce((select virtual_time from fair_agents where agent = ${place('agent')}), 0)`.as(
          'virtual_time',
        ),
      ])
      .where('agent', '=', place('agent'))
      .where(sql<boolean>`(turn, fair_key) > (${place('turn')}, ${place('key')})`)
      .orderBy('turn')
      .orderBy('fair_key')
      .limit(place('limit'));
  });

/** Makes a query for the executions at these positions that are still ready. */
export const findingAt = <Row extends QueuedRow>(queue: Queue<Row>) =>
  preparedWithList<object, number, Row>((db, _place, positions) =>
    queue
      .select(db)
      .where('seq', 'in', positions)
      .where(isInState('pending'))
      .where('available_at', 'is', null)
      .$if(queue.unless !== undefined, (some) => some.where(queue.unless!, 'is', null)),
  );

/** Makes a query for the first ready executions of a key, by priority and then by the order in which they were made. */
export const findingOfKey = <Row extends QueuedRow>(queue: Queue<Row>) =>
  prepared<{ agent: string; key: string; limit: number }, Row>((db, place) =>
    firstReady(db, queue, place('agent'), place('limit'), (rows) =>
      rows.where(isReadyWithKey).where(sql<boolean>`fair_key = ${place('key')}`),
    ),
  );

/** Moves the turns of keys after starts. They started at the virtual time if their turn was an earlier one. */
export const moveStarted = preparedWithList<
  { agent: string; virtualTime: number; by: number; weight: number },
  string,
  unknown
>((db, place, keys) => {
  const virtualTime = sql<number>`cast(${place('virtualTime')} as double precision)`;
  const start = sql<number>`case when turn < ${virtualTime} then ${virtualTime} else turn end`;
  return db
    .updateTable('fair_keys')
    .set({ turn: sql<number>`${start} + ${place('by')}`, weight: place('weight') })
    .where('agent', '=', place('agent'))
    .where('fair_key', 'in', keys);
});

/** Stores the turn of the last start of an agent. */
export const setVirtualTime = preparedInsert('fair_agents', ['agent', 'virtual_time'], { replaceBy: 'agent' });

/** Keys in one statement. */
const KEYS_TOGETHER = 1_000;

/**
 * Whether no execution of the key is ready. For `not exists` Postgres would make a join and read all ready executions.
 */
const isUnused = sql<boolean>`(
  select seq from executions
  where executions.agent = fair_keys.agent and executions.fair_key = fair_keys.fair_key and ${isReadyWithKey}
  order by configuration
  limit 1
) is null`;

const lockUnused = preparedWithList<{ agent: string }, string, { seq: number }>((db, place, keys) =>
  locking(
    db,
    db
      .selectFrom('fair_keys')
      .select('seq')
      .where('agent', '=', place('agent'))
      .where('fair_key', 'in', keys)
      .where(isUnused),
    { wait: false },
  ),
);

const deleteUnused = preparedWithList<object, number, unknown>((db, _, rows) =>
  db.deleteFrom('fair_keys').where('seq', 'in', rows).where(isUnused),
);

/**
 * Deletes those of the keys that have no ready execution. The lock comes first: a transaction that adds an execution
 * holds its key until the commit, or has inserted a row that this one does not see. So the deletion sees the execution
 * or leaves it a row. Rows that are held stay, and so do those that have an execution by now.
 */
export async function deleteKeysWithoutWork(
  { db }: Transaction,
  agent: string,
  keys: readonly string[],
): Promise<void> {
  for (let from = 0; from < keys.length; from += KEYS_TOGETHER) {
    const free = await lockUnused(db, { agent }, keys.slice(from, from + KEYS_TOGETHER));
    await deleteUnused(
      db,
      {},
      free.map(({ seq }) => seq),
    );
  }
}

const isDelayedWithKey = sql<boolean>`state = 'pending' and available_at is not null and fair_key is not null`;

const counting = (which: RawBuilder<boolean>) =>
  prepared<{ agent: string; key: string; most: number }, { count: number }>((db, place) =>
    db
      .selectFrom(
        db
          .selectFrom('executions')
          .select('id')
          .where('agent', '=', place('agent'))
          .where('fair_key', '=', place('key'))
          .where(which)
          .limit(place('most'))
          .as('waiting'),
      )
      .select(({ fn }) => fn.countAll<number>().as('count')),
  );

const countReady = counting(isReadyWithKey);
const countDelayed = counting(isDelayedWithKey);

/** Counts the waiting executions of a key, also those that wait for a limit or a retry, up to `most` of each kind. */
export async function countOfKey(db: Reader, key: { agent: string; key: string; most: number }): Promise<number> {
  // Makes two queries, because each reads one partial index.
  const [[ready], [delayed]] = await Promise.all([countReady(db, key), countDelayed(db, key)]);
  return ready!.count + delayed!.count;
}

/** The key of executions that were queued without one: by another version or with an earlier configuration. */
const NO_KEY = 'null';
const ADOPTED_AT_ONCE = 1_000;

/** Gives ready executions without a key one that they share. Looks at the first of the queue. Returns how many. */
export async function adoptWithoutKey<Row extends QueuedRow>(
  { db }: Transaction,
  queue: Queue<Row>,
  agent: string,
): Promise<number> {
  const first = firstReady(db, queue, sql.val(agent), sql.lit(ADOPTED_AT_ONCE));
  const found = await db
    .selectFrom(first.as('first'))
    .select('id')
    .where('fair_key' as never, 'is', null)
    .$castTo<{ id: string }>()
    .execute();
  if (found.length === 0) return 0;
  await db
    .updateTable('executions')
    .set({ fair_key: NO_KEY, fair_weight: 1 })
    .where(
      'id',
      'in',
      found.map(({ id }) => id),
    )
    .where(isInState('pending'))
    .execute();
  return found.length;
}
