import { Injectable } from '@nestjs/common';
import type { Selectable } from 'kysely';

import { newId } from '../../common/ids.js';
import { places, prepared } from '../../database/prepared.js';
import type { JoinArrivalsTable, JoinGroupsTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { WaitingArrivals } from '../scheduling/waiting-arrivals.js';

export type WaitingGroup = Selectable<JoinGroupsTable>;
export type Member = Selectable<JoinArrivalsTable>;

export interface Arrival {
  agent: string;
  subscription: number;
  key: string;
  seq: number;
  type: string;
  correlationId: string;
}

/**
 * Groups of artifacts that wait together, in joins and batch windows. A waiting group with a time limit counts once as
 * pending in each correlation with a member in it. A group without a limit keeps no correlation active.
 */
@Injectable()
export class WaitingGroups {
  constructor(
    private readonly timers: TimerQueue,
    private readonly arrivals: WaitingArrivals,
  ) {}

  /** Creates a group behind the others of its key. `limitMs` begins now, with the first arrival; null: no limit. */
  async open(
    tx: Transaction,
    changes: CorrelationChanges,
    arrival: Arrival,
    limitMs: number | null,
  ): Promise<WaitingGroup> {
    const last = await tx.db
      .selectFrom('join_groups')
      .select('ordinal')
      .where('agent', '=', arrival.agent)
      .where('subscription', '=', arrival.subscription)
      .where('key', '=', arrival.key)
      .orderBy('ordinal', 'desc')
      .limit(1)
      .executeTakeFirst();
    const group: WaitingGroup = {
      id: newId(),
      agent: arrival.agent,
      subscription: arrival.subscription,
      key: arrival.key,
      ordinal: (last?.ordinal ?? 0) + 1,
      state: 'waiting',
      size: 0,
      opened_at: changes.now,
      closes_at: limitMs === null ? null : changes.now + limitMs,
    };
    await tx.db.insertInto('join_groups').values(group).execute();
    if (group.closes_at !== null) await this.timers.set(tx, 'close', group.closes_at, group.id);
    return group;
  }

  /** Adds an artifact to a waiting group. */
  async join(tx: Transaction, changes: CorrelationChanges, group: WaitingGroup, arrival: Arrival): Promise<void> {
    if (group.closes_at !== null && !(await this.holdsCorrelation(tx, group, arrival.correlationId))) {
      (await changes.get(arrival.correlationId)).pending += 1;
    }
    await tx.db
      .insertInto('join_arrivals')
      .values({
        agent: group.agent,
        subscription: group.subscription,
        artifact_seq: arrival.seq,
        group_id: group.id,
        key: group.key,
        ordinal: group.ordinal,
        position: group.size,
        type: arrival.type,
        correlation_id: arrival.correlationId,
        arrived_at: changes.now,
      })
      .execute();
    group.size += 1;
    this.arrivals.changed(tx, 1);
    await tx.db.updateTable('join_groups').set({ size: group.size }).where('id', '=', group.id).execute();
  }

  /** The members in the order of their arrival. */
  members(tx: Transaction, groupId: string): Promise<Member[]> {
    return findMembers(tx.db, { groupId });
  }

  find(db: Reader, groupId: string): Promise<WaitingGroup | undefined> {
    return db.selectFrom('join_groups').selectAll().where('id', '=', groupId).executeTakeFirst();
  }

  /** Cancels the time limit, so that the group no longer keeps its members' correlations active. */
  async stopWaiting(
    tx: Transaction,
    changes: CorrelationChanges,
    group: WaitingGroup,
    members: Member[],
  ): Promise<void> {
    if (group.closes_at === null) return;
    await this.timers.cancel(tx, 'close', group.id);
    for (const correlation of await changes.getAll(correlationsOf(members))) correlation.pending -= 1;
  }

  /**
   * Ends what keeps correlations active: the time limit of a waiting group, or the `judge` timer of a completed one.
   */
  async release(tx: Transaction, changes: CorrelationChanges, group: WaitingGroup, members: Member[]): Promise<void> {
    if (group.state === 'waiting') return this.stopWaiting(tx, changes, group, members);
    await this.timers.cancel(tx, 'judge', group.id);
    (await changes.get(ownerOf(members))).pending -= 1;
  }

  /** Marks a completed group, which waits only for the evaluation of its `where`. */
  async markComplete(tx: Transaction, group: WaitingGroup): Promise<void> {
    this.arrivals.changed(tx, -group.size);
    await tx.db.updateTable('join_groups').set({ state: 'complete' }).where('id', '=', group.id).execute();
  }

  async remove(tx: Transaction, groupId: string): Promise<void> {
    await deleteMembers(tx.db, { groupId });
    for (const { state, size } of await deleteGroup(tx.db, { groupId })) {
      if (state === 'waiting') this.arrivals.changed(tx, -size);
    }
  }

  /** Removes a waiting group and its time limit. */
  async close(tx: Transaction, group: WaitingGroup): Promise<void> {
    if (group.closes_at !== null) await this.timers.cancel(tx, 'close', group.id);
    await this.remove(tx, group.id);
  }

  /**
   * Stores the size after members have left or moved. The limit begins with the first arrival (`openedAt`, epoch ms),
   * which may be another artifact now.
   */
  async resize(tx: Transaction, group: WaitingGroup, size: number, openedAt: number): Promise<void> {
    const restarts = group.closes_at !== null && openedAt !== group.opened_at;
    if (!restarts && size === group.size) return;
    this.arrivals.changed(tx, size - group.size);
    const resized = restarts
      ? { opened_at: openedAt, closes_at: openedAt + (group.closes_at! - group.opened_at) }
      : group;
    await writeGroup(tx.db, { id: group.id, size, opened_at: resized.opened_at, closes_at: resized.closes_at });
    if (!restarts) return;
    await this.timers.cancel(tx, 'close', group.id);
    await this.timers.set(tx, 'close', resized.closes_at!, group.id);
  }

  private async holdsCorrelation(tx: Transaction, group: WaitingGroup, correlationId: string): Promise<boolean> {
    const member = await tx.db
      .selectFrom('join_arrivals')
      .select('artifact_seq')
      .where('group_id', '=', group.id)
      .where('correlation_id', '=', correlationId)
      .limit(1)
      .executeTakeFirst();
    return member !== undefined;
  }
}

/** The correlation of the newest member. That arrival completed the group, so the correlation is active. */
export const ownerOf = (members: Member[]): string => members.at(-1)!.correlation_id;

/** The name that a transaction locks before it changes the groups of one key, so that these changes happen in order. */
export const lockKeyOf = ({ agent, subscription, key }: Pick<WaitingGroup, 'agent' | 'subscription' | 'key'>): string =>
  `join ${JSON.stringify([agent, subscription, key])}`;

/**
 * The key of batch windows, because a subscription fills one window at a time. A join's key is JSON and never empty.
 */
export const WINDOW_KEY = '';

export const isWindow = ({ key }: Pick<WaitingGroup, 'key'>): boolean => key === WINDOW_KEY;

export const correlationsOf = (members: Member[]): string[] => [
  ...new Set(members.map((member) => member.correlation_id)),
];

const findMembers = prepared<{ groupId: string }, Member>((db, place) =>
  db.selectFrom('join_arrivals').selectAll().where('group_id', '=', place('groupId')).orderBy('position'),
);

const deleteMembers = prepared<{ groupId: string }, unknown>((db, place) =>
  db.deleteFrom('join_arrivals').where('group_id', '=', place('groupId')),
);

const deleteGroup = prepared<{ groupId: string }, Pick<WaitingGroup, 'state' | 'size'>>((db, place) =>
  db.deleteFrom('join_groups').where('id', '=', place('groupId')).returning(['state', 'size']),
);

const writeGroup = prepared<Pick<WaitingGroup, 'id' | 'size' | 'opened_at' | 'closes_at'>, unknown>((db, place) =>
  db
    .updateTable('join_groups')
    .set(places(place, ['size', 'opened_at', 'closes_at']))
    .where('id', '=', place('id')),
);
