import { Injectable } from '@nestjs/common';

import { newId } from '../../common/ids.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { WaitingArrivals } from '../scheduling/waiting-arrivals.js';
import {
  deleteGroup,
  deleteMembers,
  findLastOrdinal,
  hasMemberOf,
  insertGroup,
  insertMember,
  type Member,
  updateClosingTime,
  updateSize,
  updateSizeAndTimes,
  updateToComplete,
  type WaitingGroup,
} from './join-group-rows.js';
import { deleteMember } from './joined-member-rows.js';
import type { GroupKey } from './lock-keys.js';

/** An artifact that arrives at a group of this key. */
export interface Arrival extends GroupKey {
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
    const group: WaitingGroup = {
      id: newId(),
      agent: arrival.agent,
      subscription: arrival.subscription,
      key: arrival.key,
      ordinal: (await findLastOrdinal(tx, arrival)) + 1,
      state: 'waiting',
      size: 0,
      opened_at: changes.now,
      closes_at: limitMs === null ? null : changes.now + limitMs,
    };
    await insertGroup(tx, group);
    if (group.closes_at !== null) await this.timers.set(tx, 'close', group.closes_at, group.id);
    return group;
  }

  /** Adds an artifact to a waiting group. */
  async join(tx: Transaction, changes: CorrelationChanges, group: WaitingGroup, arrival: Arrival): Promise<void> {
    if (group.closes_at !== null && !(await hasMemberOf(tx, group.id, arrival.correlationId))) {
      (await changes.get(arrival.correlationId)).pending += 1;
    }
    await insertMember(tx, {
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
    });
    group.size += 1;
    this.arrivals.changed(tx, 1);
    await updateSize(tx, group);
  }

  /** Takes one member out of a waiting group that has others, or gets another one in this transaction. */
  async leave(tx: Transaction, changes: CorrelationChanges, group: WaitingGroup, member: Member): Promise<void> {
    await deleteMember(tx.db, member);
    group.size -= 1;
    this.arrivals.changed(tx, -1);
    if (group.closes_at !== null && !(await hasMemberOf(tx, group.id, member.correlation_id)))
      (await changes.get(member.correlation_id)).pending -= 1;
  }

  /** Moves the end of the time limit of a waiting group (epoch ms). */
  async moveLimit(tx: Transaction, group: WaitingGroup, closesAt: number): Promise<void> {
    if (group.closes_at === closesAt) return;
    group.closes_at = closesAt;
    await updateClosingTime(tx, group.id, closesAt);
    await this.timers.cancel(tx, 'close', group.id);
    await this.timers.set(tx, 'close', closesAt, group.id);
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
    await updateToComplete(tx, group.id);
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
    await updateSizeAndTimes(tx.db, { id: group.id, size, opened_at: resized.opened_at, closes_at: resized.closes_at });
    if (!restarts) return;
    await this.timers.cancel(tx, 'close', group.id);
    await this.timers.set(tx, 'close', resized.closes_at!, group.id);
  }
}

/** The correlation of the newest member. That arrival completed the group, so the correlation is active. */
export const ownerOf = (members: Member[]): string => members.at(-1)!.correlation_id;

export const correlationsOf = (members: Member[]): string[] => [
  ...new Set(members.map((member) => member.correlation_id)),
];
