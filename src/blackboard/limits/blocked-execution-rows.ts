import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';

import { locking } from '../../database/dialects/dialect.js';
import { type Place, prepared, preparedWithList } from '../../database/prepared.js';
import type { Schema } from '../../database/schema.js';
import { sharing } from '../../database/shared-statement.js';
import type { Reader } from '../../database/unit-of-work.js';
import { lockingReady } from '../../queue/leased-rows.js';
import { NEVER, type Rank } from '../../queue/queue.js';
import { isInState } from '../../queue/state-predicate.js';
import { WAITING_COLUMNS, type WaitingRow } from '../fairness/fair-key-rows.js';

/** Takes ready executions out of the queue until the limit has room. Returns those that were ready and not locked. */
export const blockExecutions = preparedWithList<{ blockedOn: string }, string, { id: string }>((db, place, ids) =>
  db
    .updateTable('executions')
    .set({ available_at: NEVER, blocked_on: place('blockedOn'), unblocked: 0, counted_in: null })
    .where('id', 'in', lockingReady(db, 'executions', ids))
    .returning('id'),
);

/** Finds and locks those of the executions that wait for a limit or a turn and that no other transaction has locked. */
const lockingBlocked = (db: Kysely<Schema>, ids: readonly RawBuilder<string>[]) => {
  const blocked = db
    .selectFrom('executions')
    .select('id')
    .where('id', 'in', ids)
    .where(isInState('pending'))
    .where('blocked_on', 'is not', null);
  return locking(db, blocked, { wait: false });
};

/** Puts blocked executions back into the queue. One that waited for its turn has it, and no place in the line of a limit yet. */
export const unblockExecutions = preparedWithList<object, string, { id: string; agent: string }>((db, _place, ids) =>
  db
    .updateTable('executions')
    .set({
      available_at: null,
      blocked_on: null,
      singleton_waits: 0,
      unblocked: sql<number>`1 - singleton_waits`,
      counted_in: sql<string | null>`case when singleton_waits = 0 and fair_key is not null then blocked_on end`,
    })
    .where('id', 'in', lockingBlocked(db, ids))
    .returning(['id', 'agent']),
);

/**
 * Puts blocked executions back into the queue that no limit has let go, and that start only if none waits for their limits.
 * Returns their agents.
 */
export const returnExecutions = preparedWithList<object, string, { agent: string }>((db, _place, ids) =>
  db
    .updateTable('executions')
    .set({ available_at: null, blocked_on: null })
    .where('id', 'in', lockingBlocked(db, ids))
    .returning('agent'),
);

const MOST_RELEASED = 1_000;

/** An execution that a limit has let go in its turn, and that has not started. */
export interface ReleasedRow {
  id: string;
  /** Its agent. */
  queue: string;
  fair_key: string;
  fair_weight: number;
  limit_keys: string;
  counted_in: string;
}

/** Finds the ready executions of an agent that a limit has let go in their turns. */
export const findReleased = prepared<{ agent: string; countedIn: string }, ReleasedRow>((db, place) =>
  db
    .selectFrom('executions')
    .select(['id', 'agent as queue', 'fair_key', 'fair_weight', 'limit_keys', 'counted_in'])
    .where('agent', '=', place('agent'))
    .where('counted_in', '=', place('countedIn'))
    .where('counted_in', 'is not', null)
    .where(isInState('pending'))
    .where('available_at', 'is', null)
    .limit(MOST_RELEASED)
    .$narrowType<ReleasedRow>(),
);

/** Returns those of the executions that are ready. */
export const findReadyAmong = preparedWithList<object, string, { id: string }>((db, _place, ids) =>
  db
    .selectFrom('executions')
    .select('id')
    .where('id', 'in', ids)
    .where(isInState('pending'))
    .where('available_at', 'is', null),
);

/** The next start of these executions counts as a turn in all lines of limits again. */
export const countNextStart = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db
    .updateTable('executions')
    .set({ counted_in: null })
    .where('id', 'in', lockingReady(db, 'executions', ids)),
);

/** Lets blocked executions wait for another limit. */
export const moveBlocked = preparedWithList<{ blockedOn: string }, string, unknown>((db, place, ids) =>
  db
    .updateTable('executions')
    .set({ blocked_on: place('blockedOn') })
    .where('id', 'in', lockingBlocked(db, ids)),
);

/**
 * The first executions that wait for the limit, in the order of claims. This and the queries below do not ask for the state,
 * because only pending executions have `blocked_on`: Postgres would believe that the state leaves out most of them, and read
 * all that wait although one is enough.
 */
export const findFirstBlocked = prepared<{ blockedOn: string; limit: number }, WaitingRow>((db, place) =>
  db
    .selectFrom('executions')
    .select(WAITING_COLUMNS)
    .where('blocked_on', '=', place('blockedOn'))
    .where('blocked_on', 'is not', null)
    .orderBy('priority', 'desc')
    .orderBy('background')
    .orderBy('seq')
    .limit(place('limit')),
);

/** Finds the executions that hold limits while they wait for this one. They are few, however many wait. */
export const findHoldingBlocked = prepared<{ blockedOn: string }, WaitingRow>((db, place) =>
  db
    .selectFrom('executions')
    .select(WAITING_COLUMNS)
    // The index of the plain column has all that wait.
    .where(sql<string>`coalesce(blocked_on, '')`, '=', place('blockedOn'))
    .where('held_keys', 'is not', null)
    .where('ended_at', 'is', null)
    .where(isInState('pending'))
    .orderBy('priority', 'desc')
    .orderBy('background')
    .orderBy('seq'),
);

/** The keys for which executions wait that hold limits. They are few, however many wait. */
export async function findKeysOfHolders(db: Reader): Promise<string[]> {
  const rows = await findBlockedHolders(db, {});
  return rows.map(({ blocked_on }) => blocked_on);
}

const findBlockedHolders = prepared<object, { blocked_on: string }>((db) =>
  db
    .selectFrom('executions')
    .select('blocked_on')
    .distinct()
    .where('held_keys', 'is not', null)
    .where('ended_at', 'is', null)
    // The index of the plain column has all that wait.
    .where(sql<string>`coalesce(blocked_on, '')`, '<>', '')
    .$narrowType<{ blocked_on: string }>(),
);

/** The name of the limit that the execution waits for, or null. */
export async function findLimitOf(db: Reader, id: string): Promise<string | null> {
  const row = await db
    .selectFrom('executions')
    .select('blocked_on')
    .where('id', '=', id)
    .where(isInState('pending'))
    .executeTakeFirst();
  return row?.blocked_on ? (JSON.parse(row.blocked_on) as [string])[0] : null;
}

export interface QueuedRow {
  seq: number;
  id: string;
  agent: string;
  correlation_id: string;
  created_at: number;
}

/** Finds the executions at these positions that wait for a limit. */
export const findQueuedAt = preparedWithList<object, number, QueuedRow>((db, _place, positions) =>
  db
    .selectFrom('executions')
    .select(['seq', 'id', 'agent', 'correlation_id', 'created_at'])
    .where('seq', 'in', positions)
    // The expression prevents the use of the index of all that wait.
    .where(sql<string>`coalesce(blocked_on, '')`, '<>', ''),
);

/** The keys as the table `asked`, with the column `column1`. */
const askedFor = (keys: readonly RawBuilder<string>[]) =>
  sql<{ column1: string }>`(values ${sql.join(keys.map((key) => sql`(${key})`))})`.as('asked');

/** The position of the execution that waits first for the key. Reads only that one, however many wait. */
const firstOf = (key: string) =>
  sql<number | null>`(
    select seq from executions
    where blocked_on = ${sql.ref(key)} and blocked_on is not null
    order by priority desc, background, seq
    limit 1
  )`;

/** Whether executions wait for the key. */
const isBlocked = (key: string) => sql<boolean>`${firstOf(key)} is not null`;

/** Returns the key if executions wait for it. */
export const findBlocked = sharing<{ key: string }, { blocked_on: string }>(
  prepared((db, place) =>
    db
      .selectFrom('executions')
      .select('blocked_on')
      .where('blocked_on', '=', place('key'))
      .where('blocked_on', 'is not', null)
      .orderBy('priority', 'desc')
      .orderBy('background')
      .orderBy('seq')
      .limit(1)
      .$narrowType<{ blocked_on: string }>(),
  ),
  {
    table: 'executions',
    columns: ['blocked_on'],
    rowOf: ({ key }) => ({ blocked_on: key }),
    key: 'blocked_on',
    mayRepeat: true,
    answers: true,
    addsRows: false,
    build: (db, given) =>
      db
        .selectFrom(given as RawBuilder<{ blocked_on: string }> as never)
        .select('given.blocked_on' as never)
        .where(isBlocked('given.blocked_on')) as never,
  },
);

const findBlockedKeys = preparedWithList<object, string, { blocked_on: string }>((db, _place, keys) =>
  db.selectFrom(askedFor(keys)).select('asked.column1 as blocked_on').where(isBlocked('asked.column1')),
);

/** Returns those of the keys for which executions wait. Reads one execution of each key, however many wait for it. */
export async function findBlockedAmong(db: Reader, keys: readonly string[]): Promise<string[]> {
  const rows = await findBlockedKeys(db, {}, [...new Set(keys)]);
  return [...new Set(rows.map(({ blocked_on }) => blocked_on))];
}

/** Finds the position of the execution that waits first for each of these keys. A key may come several times. */
export const findFirstOfEach = preparedWithList<object, string, { blocked_on: string; first: number | null }>(
  (db, _place, keys) =>
    db.selectFrom(askedFor(keys)).select(['asked.column1 as blocked_on', firstOf('asked.column1').as('first')]),
);

/** Counts stop here, because a million may wait. */
export const MOST_COUNTED = 10_000;

interface CountRow {
  count: number;
}

type Narrow<Values> = (blocked: Blocked, place: Place<Values & { blockedOn: string }>) => Blocked;

type Blocked = SelectQueryBuilder<Schema, 'executions', object>;

const counting = <Values extends object>(narrow: Narrow<Values>) =>
  prepared<Values & { blockedOn: string }, CountRow>((db, place) => {
    const all = db.selectFrom('executions').where('blocked_on', '=', place('blockedOn'));
    const blocked = narrow(all.where('blocked_on', 'is not', null), place);
    return db
      .selectFrom(
        blocked
          .select('id')
          .limit(MOST_COUNTED + 1)
          .as('blocked'),
      )
      .select(({ fn }) => fn.countAll<number>().as('count'));
  });

/** How many executions wait for the limit. At most one more than `MOST_COUNTED`. */
export const countBlocked = counting<object>((blocked) => blocked);

const countHigher = counting<Pick<Rank, 'priority'>>((blocked, place) =>
  blocked.where('priority', '>', place('priority')),
);

const countForeground = counting<Rank>((blocked, place) =>
  blocked.where('priority', '=', place('priority')).where('background', '<', place('background')),
);

const countOlder = counting<Rank & { seq: number }>((blocked, place) =>
  blocked
    .where('priority', '=', place('priority'))
    .where('background', '=', place('background'))
    .where('seq', '<', place('seq')),
);

/**
 * How many of them start before the execution with this rank and position. Makes three queries, because each reads one
 * range of the index.
 */
export async function countBlockedBefore(
  db: Reader,
  place: Rank & { blockedOn: string; seq: number },
): Promise<number> {
  let count = 0;
  for (const before of [countHigher, countForeground, countOlder]) count += (await before(db, place))[0]!.count;
  return count;
}
