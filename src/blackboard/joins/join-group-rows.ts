import { type RawBuilder, type Selectable, sql, type SqlBool } from 'kysely';

import { places, prepared } from '../../database/prepared.js';
import type { JoinArrivalsTable, JoinGroupsTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { ArtifactRow } from '../artifacts/artifact.js';
import { OF_REPLAY } from '../matching/replay-keys.js';
import { isAmong, type SubscriptionPlace } from '../matching/subscription-rows.js';
import { type GroupKey, KEYED_WINDOW } from './lock-keys.js';

/** A join group or a batch window. */
export type WaitingGroup = Selectable<JoinGroupsTable>;

/** An artifact in a group. */
export type Member = Selectable<JoinArrivalsTable>;

export const findGroup = (db: Reader, id: string): Promise<WaitingGroup | undefined> =>
  db.selectFrom('join_groups').selectAll().where('id', '=', id).executeTakeFirst();

/** Finds the first group of a key after the ordinal `after`. */
export const findGroupAfter = ({ db }: Transaction, key: GroupKey, after: number): Promise<WaitingGroup | undefined> =>
  db
    .selectFrom('join_groups')
    .selectAll()
    .where(({ and }) => and(columnsOfKey(key)))
    .where('ordinal', '>', after)
    .orderBy('ordinal')
    .limit(1)
    .executeTakeFirst();

/** Returns the ordinal of the last group of a key, or 0 if it has none. */
export async function findLastOrdinal({ db }: Transaction, key: GroupKey): Promise<number> {
  const last = await db
    .selectFrom('join_groups')
    .select('ordinal')
    .where(({ and }) => and(columnsOfKey(key)))
    .orderBy('ordinal', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.ordinal ?? 0;
}

/** Returns the ordinal of the last group of a key that has an artifact of the type, or 0 if none has. */
export async function findLastOrdinalWith({ db }: Transaction, key: GroupKey, type: string): Promise<number> {
  const last = await db
    .selectFrom('join_arrivals')
    .select('ordinal')
    .where(({ and }) => and({ ...columnsOfKey(key), type }))
    .orderBy('ordinal', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.ordinal ?? 0;
}

const columnsOfKey = ({ agent, subscription, key }: GroupKey): GroupKey => ({ agent, subscription, key });

/** `isWindow` as a condition of a query. `column`: that of a key. */
export const hasWindowKey = (column: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`substr(${sql.ref(column)}, 1, 1) in ('', ${sql.lit(OF_REPLAY)}, ${sql.lit(KEYED_WINDOW[0]!)})`;

export async function insertGroup({ db }: Transaction, group: WaitingGroup): Promise<void> {
  await db.insertInto('join_groups').values(group).execute();
}

/** Stores that a group has all its artifacts. */
export async function updateToComplete({ db }: Transaction, id: string): Promise<void> {
  await db.updateTable('join_groups').set({ state: 'complete' }).where('id', '=', id).execute();
}

export async function updateSize({ db }: Transaction, { id, size }: WaitingGroup): Promise<void> {
  await db.updateTable('join_groups').set({ size }).where('id', '=', id).execute();
}

/** Stores another end of a group's time limit (epoch ms). */
export async function updateClosingTime({ db }: Transaction, id: string, closes_at: number): Promise<void> {
  await db.updateTable('join_groups').set({ closes_at }).where('id', '=', id).execute();
}

export const updateSizeAndTimes = prepared<Pick<WaitingGroup, 'id' | 'size' | 'opened_at' | 'closes_at'>, unknown>(
  (db, place) =>
    db
      .updateTable('join_groups')
      .set(places(place, ['size', 'opened_at', 'closes_at']))
      .where('id', '=', place('id')),
);

export const deleteGroup = prepared<{ groupId: string }, Pick<WaitingGroup, 'state' | 'size'>>((db, place) =>
  db.deleteFrom('join_groups').where('id', '=', place('groupId')).returning(['state', 'size']),
);

export async function insertMember({ db }: Transaction, member: Member): Promise<void> {
  await db.insertInto('join_arrivals').values(member).execute();
}

/** Finds the members of a group in the order of their arrival. */
export const findMembers = prepared<{ groupId: string }, Member>((db, place) =>
  db.selectFrom('join_arrivals').selectAll().where('group_id', '=', place('groupId')).orderBy('position'),
);

export const deleteMembers = prepared<{ groupId: string }, unknown>((db, place) =>
  db.deleteFrom('join_arrivals').where('group_id', '=', place('groupId')),
);

/** Returns true if a group has an artifact of the correlation. */
export async function hasMemberOf({ db }: Transaction, groupId: string, correlationId: string): Promise<boolean> {
  const member = await db
    .selectFrom('join_arrivals')
    .select('artifact_seq')
    .where('group_id', '=', groupId)
    .where('correlation_id', '=', correlationId)
    .limit(1)
    .executeTakeFirst();
  return member !== undefined;
}

/** Returns the bytes of the payloads of a group's artifacts. */
export async function countMemberBytes(db: Reader, groupId: string): Promise<number> {
  const sizes = await memberArtifacts(db, groupId)
    .select(sql<number>`octet_length(artifacts.payload)`.as('bytes'))
    .execute();
  return sizes.reduce((sum, { bytes }) => sum + bytes, 0);
}

export const findMemberArtifacts = (db: Reader, groupId: string): Promise<ArtifactRow[]> =>
  memberArtifacts(db, groupId).selectAll('artifacts').execute();

const memberArtifacts = (db: Reader, groupId: string) =>
  db
    .selectFrom('join_arrivals')
    .innerJoin('artifacts', 'artifacts.seq', 'join_arrivals.artifact_seq')
    .where('join_arrivals.group_id', '=', groupId);

/** Counts the groups of these subscriptions by agent, sorted by agent. */
export const countGroups = (
  db: Reader,
  places: readonly SubscriptionPlace[],
): Promise<{ agent: string; count: number }[]> =>
  db
    .selectFrom('join_groups')
    .select(['agent', ({ fn }) => fn.countAll<number>().as('count')])
    .where(isAmong(places))
    .groupBy('agent')
    .orderBy('agent')
    .execute();

/** Finds the agents of those of these subscriptions in whose groups artifacts of these correlations wait. */
export const findAgentsWithMembers = (
  db: Reader,
  correlationIds: readonly string[],
  places: readonly SubscriptionPlace[],
): Promise<{ correlation_id: string; agent: string }[]> =>
  db
    .selectFrom('join_arrivals')
    .innerJoin('join_groups', 'join_groups.id', 'join_arrivals.group_id')
    .select(['join_arrivals.correlation_id', 'join_groups.agent'])
    .distinct()
    .where('join_arrivals.correlation_id', 'in', correlationIds)
    .where(isAmong(places))
    .execute();
