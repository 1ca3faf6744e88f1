import { type Expression, type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';

import { locking } from '../../database/dialects/dialect.js';
import { type Place, type Prepared, prepared, preparedInsert, preparedWithList } from '../../database/prepared.js';
import type { ExecutionsTable, Schema } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { Queue, QueuedRow } from '../../queue/queue.js';
import { firstReady } from '../../queue/ready-rows.js';
import { isInState } from '../../queue/state-predicate.js';

/** Whether an execution is ready and has a key. The index `executions_fair` has this condition, and no other index fits it. */
export const isReadyWithKey = sql<boolean>`case when state = 'pending' and available_at is null then fair_key end is not null`;

/** Whether an execution waits for a limit or a retry and has a key. The index `executions_fair_delayed` has this condition. */
const isDelayedWithKey = sql<boolean>`case when state = 'pending' and available_at is not null then fair_key end is not null`;

/** The executions of an agent that wait for a limit. `line`: their name in `fair_keys`. */
export interface WaitingLine {
  line: string;
  agent: string;
  blockedOn: string;
}

/** A line of executions whose keys take turns: those of an agent that are ready have its name. */
export type Line = Pick<WaitingLine, 'line'>;

export interface FairKeyRow {
  fair_key: string;
  turn: number;
  weight: number;
}

export type FindKeys<Of extends Line> = Prepared<
  Of & { turn: number; key: string; limit: number },
  FairKeyRow & { ready: number | null; virtual_time: number }
>;

/**
 * Makes a query for the keys after a place in their order, and the position of the first execution of each. A key may have
 * several rows. `virtual_time`: that of the line, which is the same in all rows.
 */
const findingKeysWith = <Of extends Line>(
  first: (db: Kysely<Schema>, place: Place<Of>) => Expression<unknown>,
): FindKeys<Of> =>
  prepared((db, place) =>
    db
      .selectFrom('fair_keys')
      .select([
        'fair_key',
        'turn',
        'weight',
        sql<number | null>`(select seq from ${first(db, place as never)} as ready)`.as('ready'),
        sql<number>`coalesce((select virtual_time from fair_agents where agent = ${place('line')}), 0)`.as(
          'virtual_time',
        ),
      ])
      .where('agent', '=', place('line'))
      .where(sql<boolean>`(turn, fair_key) > (${place('turn')}, ${place('key')})`)
      .orderBy('turn')
      .orderBy('fair_key')
      .limit(place('limit')),
  );

/** For the executions of an agent that are ready. */
export const findingKeys = <Row extends QueuedRow>(queue: Queue<Row>): FindKeys<Line> =>
  findingKeysWith((db, place) =>
    firstReady(db, queue, place('line'), sql.lit(1), (rows) =>
      rows.where(isReadyWithKey).where(sql<boolean>`executions.fair_key = fair_keys.fair_key`),
    ),
  );

/** The executions of a key that wait for a limit, in the order of claims. */
const waitingOf = (db: Kysely<Schema>, place: Place<WaitingLine>, key: RawBuilder<string>) =>
  db
    .selectFrom('executions')
    .where('executions.agent', '=', place('agent'))
    .where(sql<boolean>`executions.fair_key = ${key}`)
    // No index of all that wait for the limit fits this expression.
    .where(sql<string>`coalesce(blocked_on, '')`, '=', place('blockedOn'))
    .where(isDelayedWithKey)
    .orderBy('priority', 'desc')
    .orderBy('background')
    .orderBy('executions.seq');

const ofFairKey = sql<string>`fair_keys.fair_key`;

export const findKeysThatWait: FindKeys<WaitingLine> = findingKeysWith((db, place) =>
  waitingOf(db, place, ofFairKey).select('executions.seq').limit(sql.lit(1)),
);

export const WAITING_COLUMNS = [
  'seq',
  'id',
  'agent',
  'priority',
  'background',
  'limit_keys',
  'held_keys',
  'fair_key',
  'fair_weight',
] as const;

/** An execution that waits for a limit. */
export type WaitingRow = Pick<Selectable<ExecutionsTable>, (typeof WAITING_COLUMNS)[number]>;

export const findWaitingAt = preparedWithList<object, number, WaitingRow>((db, _place, positions) =>
  db
    .selectFrom('executions')
    .select(WAITING_COLUMNS)
    .where('seq', 'in', positions)
    .where(isInState('pending'))
    .where('blocked_on', 'is not', null),
);

export const findWaitingOfKey = prepared<WaitingLine & { key: string; limit: number }, WaitingRow>((db, place) =>
  waitingOf(db, place as never, place('key'))
    .select(WAITING_COLUMNS)
    .limit(place('limit')),
);

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
  prepared<Line & { key: string; limit: number }, Row>((db, place) =>
    firstReady(db, queue, place('line'), place('limit'), (rows) =>
      rows.where(isReadyWithKey).where(sql<boolean>`fair_key = ${place('key')}`),
    ),
  );

/**
 * Moves the turns of keys after starts. They started at the virtual time if their turn was an earlier one. Returns their
 * next turns.
 */
export const moveStarted = preparedWithList<
  Line & { virtualTime: number; by: number; weight: number },
  string,
  { fair_key: string; turn: number }
>((db, place, keys) => {
  const virtualTime = sql<number>`cast(${place('virtualTime')} as double precision)`;
  const start = sql<number>`case when turn < ${virtualTime} then ${virtualTime} else turn end`;
  return db
    .updateTable('fair_keys')
    .set({ turn: sql<number>`${start} + ${place('by')}`, weight: place('weight') })
    .where('agent', '=', place('line'))
    .where('fair_key', 'in', keys)
    .returning(['fair_key', 'turn']);
});

/** Stores the turn of the last start of a line. */
export const setVirtualTime = preparedInsert('fair_agents', ['agent', 'virtual_time'], { replaceBy: 'agent' });

/** Keys in one statement. */
const KEYS_TOGETHER = 1_000;

/**
 * Makes statements for keys of which no execution is in their line. Without `first`, which finds one, but with `not exists`,
 * Postgres would make a join and read all of them.
 */
function deletingUnused<Of extends Line>(first: (db: Kysely<Schema>, place: Place<Of>) => Expression<unknown>) {
  const isUnused = (db: Kysely<Schema>, place: Place<Of>) => sql<boolean>`${first(db, place)} is null`;
  const lockUnused = preparedWithList<Of, string, { seq: number }>((db, place, keys) =>
    locking(
      db,
      db
        .selectFrom('fair_keys')
        .select('seq')
        .where('agent', '=', place('line'))
        .where('fair_key', 'in', keys)
        .where(isUnused(db, place)),
      { wait: false },
    ),
  );
  const deleteUnused = preparedWithList<Of, number, unknown>((db, place, rows) =>
    db.deleteFrom('fair_keys').where('seq', 'in', rows).where(isUnused(db, place)),
  );
  /** Returns true if it has deleted some. */
  return async ({ db }: Transaction, of: Of, keys: readonly string[]): Promise<boolean> => {
    let some = false;
    for (let from = 0; from < keys.length; from += KEYS_TOGETHER) {
      const free = await lockUnused(db, of, keys.slice(from, from + KEYS_TOGETHER));
      some ||= free.length > 0;
      await deleteUnused(
        db,
        of,
        free.map(({ seq }) => seq),
      );
    }
    return some;
  };
}

/**
 * Deletes those of the keys that have no ready execution. The lock comes first: a transaction that adds an execution
 * holds its key until the commit, or has inserted a row that this one does not see. So the deletion sees the execution
 * or leaves it a row. Rows that are held stay, and so do those that have an execution by now.
 */
export const deleteKeysWithoutWork = deletingUnused<Line>(
  () => sql`(
    select seq from executions
    where executions.agent = fair_keys.agent and executions.fair_key = fair_keys.fair_key and ${isReadyWithKey}
    order by configuration
    limit 1
  )`,
);

const deleteKeysWithoutWaiting = deletingUnused<WaitingLine>((db, place) =>
  waitingOf(db, place, ofFairKey).select('executions.seq').limit(sql.lit(1)),
);

const lockVirtualTime = prepared<Line, { agent: string }>((db, place) =>
  locking(db, db.selectFrom('fair_agents').select('agent').where('agent', '=', place('line')), { wait: false }),
);

const deleteVirtualTime = prepared<Line, unknown>((db, place) =>
  db
    .deleteFrom('fair_agents')
    .where('agent', '=', place('line'))
    .where(sql<boolean>`(select seq from fair_keys where agent = ${place('line')} limit 1) is null`),
);

/** As `deleteKeysWithoutWork`, for a line of executions that wait. Without keys, it has no virtual time either. */
export async function deleteFromLine(tx: Transaction, line: WaitingLine, keys: readonly string[]): Promise<void> {
  if (!(await deleteKeysWithoutWaiting(tx, line, keys))) return;
  // The lock comes first, as with the keys: a transaction that adds a key holds the virtual time that it has read.
  if ((await lockVirtualTime(tx.db, line)).length > 0) await deleteVirtualTime(tx.db, line);
}

/** The executions of a key that wait for a limit, in the order of claims. */
export const waitingOfKey = (db: Reader, { key, ...line }: WaitingLine & { key: string }) =>
  waitingOf(db, ((name: keyof WaitingLine) => sql.val(line[name])) as never, sql.val(key)).select([
    'priority',
    'background',
    'executions.seq',
  ]);

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
