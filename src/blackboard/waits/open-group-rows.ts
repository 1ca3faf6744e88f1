import { type SelectQueryBuilder, sql, type SqlBool } from 'kysely';

import { amongFound } from '../../database/dialects/dialect.js';
import type { Schema } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';
import { hasWindowKey, type WaitingGroup } from '../joins/join-group-rows.js';
import type { SubscriptionRow } from '../matching/subscription-rows.js';

/** The columns that order the list of open groups. One index has all of them. */
export type GroupPosition = Pick<WaitingGroup, 'agent' | 'subscription' | 'key' | 'ordinal'>;

/** Null does not filter. */
export interface GroupFilter {
  agent: string | null;
  correlationId: string | null;
}

/** A group together with its members of one type. */
export interface GroupPart extends WaitingGroup {
  type: string;
  count: number;
  /** The first and the last of the correlations of these members, in the order of text. */
  first: string;
  last: string;
}

/**
 * Finds the first groups after a position, in the order of positions. The filter's agent, if any, is that of the
 * position.
 */
export const findOpenGroups = (
  db: Reader,
  { agent, correlationId }: GroupFilter,
  after: GroupPosition | null,
  limit: number,
): Promise<GroupPart[]> =>
  partsOf(
    db,
    candidates(db, correlationId)
      .select('id')
      .$if(agent !== null, (groups) => groups.where('agent', '=', agent!))
      .$if(after !== null, (groups) => groups.where(isAfter(after!, agent !== null)))
      .orderBy('agent')
      .orderBy('subscription')
      .orderBy('key')
      .orderBy('ordinal')
      .limit(limit),
  );

export const findOpenGroup = (db: Reader, id: string): Promise<GroupPart[]> =>
  partsOf(db, db.selectFrom('join_groups').select('id').where('id', '=', id));

/** One statement reads groups and their members, because they change together. */
const partsOf = (db: Reader, ids: SelectQueryBuilder<Schema, never, { id: string }>): Promise<GroupPart[]> =>
  db
    .selectFrom('join_groups')
    .innerJoin('join_arrivals', 'join_arrivals.group_id', 'join_groups.id')
    .selectAll('join_groups')
    .select(({ fn }) => [
      'join_arrivals.type',
      fn.countAll<number>().as('count'),
      fn.min<string>('join_arrivals.correlation_id').as('first'),
      fn.max<string>('join_arrivals.correlation_id').as('last'),
    ])
    .where(amongFound(db, 'join_groups.id', ids))
    .groupBy(['join_groups.id', 'join_arrivals.type'])
    .orderBy('join_groups.agent')
    .orderBy('join_groups.subscription')
    .orderBy('join_groups.key')
    .orderBy('join_groups.ordinal')
    .orderBy(({ fn }) => fn.min('join_arrivals.position'))
    .execute();

/**
 * All groups, or those with artifacts of a correlation: its arrivals have the columns that order the groups too. They are
 * read before any other condition holds; otherwise SQLite would read all arrivals of an agent.
 */
const candidates = (db: Reader, correlationId: string | null) =>
  correlationId === null
    ? db.selectFrom('join_groups as group')
    : db
        .with(
          (cte) => cte('group').materialized(),
          (cte) =>
            cte
              .selectFrom('join_arrivals')
              .select(['agent', 'subscription', 'key', 'ordinal', 'group_id as id'])
              .distinct()
              .where('correlation_id', '=', correlationId),
        )
        .selectFrom('group');

/**
 * Leaves out the agent's column if the query already has it, so that the index finds the position. With casts, SQLite
 * would use only the first column of the index.
 */
const isAfter = ({ agent, subscription, key, ordinal }: GroupPosition, isOneAgent: boolean) =>
  isOneAgent
    ? sql<SqlBool>`(subscription, key, ordinal) > (${subscription}, ${key}, ${ordinal})`
    : sql<SqlBool>`(agent, subscription, key, ordinal) > (${agent}, ${subscription}, ${key}, ${ordinal})`;

export const findSubscriptionsOf = (db: Reader, agents: readonly string[]): Promise<SubscriptionRow[]> =>
  db.selectFrom('subscriptions').selectAll().where('agent', 'in', agents).execute();

/** Counts the joins and the windows in which artifacts of a correlation wait. */
export async function countGroupsOf(db: Reader, correlationId: string): Promise<{ joins: number; windows: number }> {
  const groups = db
    .selectFrom('join_arrivals')
    .select(({ fn }) => fn.count<number>('group_id').distinct().as('count'))
    .where('correlation_id', '=', correlationId);
  const [joins, windows] = await Promise.all([
    groups.where(({ not }) => not(hasWindowKey('key'))).executeTakeFirstOrThrow(),
    groups.where(hasWindowKey('key')).executeTakeFirstOrThrow(),
  ]);
  return { joins: joins.count, windows: windows.count };
}

/** An artifact in a group. */
export interface MemberRow {
  position: number;
  artifact_id: string;
  artifact_type: string;
  correlation_id: string;
  arrived_at: number;
}

/** Finds the first members of a group after a position, in the order of their arrival. */
export const findMembersAfter = (db: Reader, groupId: string, after: number, limit: number): Promise<MemberRow[]> =>
  db
    .selectFrom('join_arrivals')
    .innerJoin('artifacts', 'artifacts.seq', 'join_arrivals.artifact_seq')
    .select([
      'join_arrivals.position',
      'artifacts.id as artifact_id',
      'join_arrivals.type as artifact_type',
      'join_arrivals.correlation_id',
      'join_arrivals.arrived_at',
    ])
    .where('join_arrivals.group_id', '=', groupId)
    .where('join_arrivals.position', '>', after)
    .orderBy('join_arrivals.position')
    .limit(limit)
    .execute();
