import { Injectable } from '@nestjs/common';

import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { findMembers, type Member, type WaitingGroup } from './join-group-rows.js';
import {
  deleteMember,
  findFirstArrival,
  findJoinedAt,
  findJoinedOf,
  findKeysOf,
  findMovable,
  type Joined,
  moveMember,
  shiftMembers,
} from './joined-member-rows.js';
import { isWindow, lockKeyOf } from './lock-keys.js';
import { correlationsOf, ownerOf, WaitingGroups } from './waiting-groups.js';

/** A group and the members that belong to it. */
interface Place {
  group: WaitingGroup;
  members: Member[];
}

/**
 * Removes the artifacts of a cancelled correlation, and artifacts whose retention has ended, from waiting groups. Later
 * members of the same key move up, as if the removed ones had never arrived. Otherwise a group would lack a type that a
 * later group has, and would never be completed. Thousands of groups may wait for the same key, and everything happens
 * in one transaction, so groups that do not change are not read.
 */
@Injectable()
export class JoinRemoval {
  constructor(
    private readonly groups: WaitingGroups,
    private readonly timers: TimerQueue,
  ) {}

  /**
   * Locks the keys under which artifacts of these correlations wait. Callers do this before they lock the correlations,
   * in the same order as arrivals do, and once more after, for artifacts that have arrived in between.
   */
  async hold(tx: Transaction, correlationIds: readonly string[]): Promise<void> {
    await tx.lock(await this.lockKeys(tx.db, correlationIds));
  }

  /** The lock keys of the groups in which artifacts of these correlations wait. */
  async lockKeys(db: Reader, correlationIds: readonly string[]): Promise<string[]> {
    return (await findKeysOf(db, {}, correlationIds)).map(lockKeyOf);
  }

  async removeCorrelation(tx: Transaction, changes: CorrelationChanges, correlationId: string): Promise<void> {
    await this.takeOut(tx, changes, await findJoinedOf(tx.db, { correlationId }), correlationId);
  }

  /** Locks the keys under which these artifacts wait. */
  async holdArtifacts(tx: Transaction, seqs: readonly number[]): Promise<void> {
    await tx.lock((await findJoinedAt(tx.db, {}, seqs)).map(lockKeyOf));
  }

  /** Removes artifacts from groups that wait without a time limit. The caller has called `holdArtifacts`. */
  async removeArtifacts(tx: Transaction, changes: CorrelationChanges, seqs: readonly number[]): Promise<void> {
    await this.takeOut(tx, changes, await findJoinedAt(tx.db, {}, seqs), null);
  }

  /** `owner`: the correlation whose completed groups are removed too. */
  private async takeOut(
    tx: Transaction,
    changes: CorrelationChanges,
    own: readonly Joined[],
    owner: string | null,
  ): Promise<void> {
    const partly: Joined[] = [];
    for (const members of Map.groupBy(own, ({ id }) => id).values()) {
      const group = members[0]!;
      if (group.state === 'complete') await this.dropUndecided(tx, group, owner);
      // Groups behind this one lack the same types, so no member of theirs has to move.
      else if (members.length === group.size) await this.groups.close(tx, group);
      else partly.push(...members);
    }
    for (const member of partly) await deleteMember(tx.db, member);
    for (const places of Map.groupBy(partly, ({ agent, subscription, key }) =>
      JSON.stringify([agent, subscription, key]),
    ).values()) {
      await (isWindow(places[0]!) ? this.closeGaps(tx, places) : this.moveUp(tx, changes, places));
    }
  }

  // A completed group belongs to the correlation of its newest artifact, as its execution would. Other groups stay.
  private async dropUndecided(tx: Transaction, group: WaitingGroup, correlationId: string | null): Promise<void> {
    if (ownerOf(await findMembers(tx.db, { groupId: group.id })) !== correlationId) return;
    await this.timers.cancel(tx, 'judge', group.id);
    await this.groups.remove(tx, group.id);
  }

  /** The window keeps its other members, and their positions become consecutive again. */
  private async closeGaps(tx: Transaction, gone: Joined[]): Promise<void> {
    const window = gone[0]!;
    for (const [index, { position }] of gone.entries()) {
      await shiftMembers(tx.db, {
        id: window.id,
        after: position,
        before: gone[index + 1]?.position ?? window.size,
        by: index + 1,
      });
    }
    const [first] = await findFirstArrival(tx.db, window);
    await this.groups.resize(tx, window, window.size - gone.length, first!.arrived_at);
  }

  private async moveUp(tx: Transaction, changes: CorrelationChanges, gone: Joined[]): Promise<void> {
    const { agent, subscription, key, ordinal } = gone[0]!;
    const rows = await findMovable(tx.db, { agent, subscription, key, ordinal, gone: gone.length });
    const before = [...Map.groupBy(rows, ({ id }) => id).values()].map((members): Place => ({
      group: members[0]!,
      members,
    }));
    const after = closedUp(before);
    await recount(changes, before, after);
    // In this order the members of a group have moved to earlier groups before it is closed.
    for (const place of after) {
      if (place.members.length === 0) await this.groups.close(tx, place.group);
      else if (hasChanged(place)) await this.rewrite(tx, place);
    }
  }

  private async rewrite(tx: Transaction, { group, members }: Place): Promise<void> {
    members.sort((one, other) => one.arrived_at - other.arrived_at || one.artifact_seq - other.artifact_seq);
    for (const [position, member] of members.entries()) {
      if (member.group_id === group.id && member.position === position) continue;
      await moveMember(tx.db, { ...member, group_id: group.id, ordinal: group.ordinal, position });
    }
    await this.groups.resize(tx, group, members.length, members[0]!.arrived_at);
  }
}

/** Puts the n-th member of each type into the n-th group. */
function closedUp(places: Place[]): Place[] {
  const types = [
    ...Map.groupBy(
      places.flatMap(({ members }) => members),
      ({ type }) => type,
    ).values(),
  ];
  return places.map(({ group }, index) => ({ group, members: types.flatMap((members) => members[index] ?? []) }));
}

const hasChanged = ({ group, members }: Place): boolean =>
  members.length !== group.size || members.some(({ group_id }) => group_id !== group.id);

// A group with a time limit counts once in each correlation with a member in it. Most counts are the same before and
// after.
async function recount(changes: CorrelationChanges, before: Place[], after: Place[]): Promise<void> {
  const differences = new Map<string, number>();
  for (const [places, difference] of [
    [before, -1],
    [after, 1],
  ] as const) {
    for (const { group, members } of places) {
      if (group.closes_at === null) continue;
      for (const id of correlationsOf(members)) differences.set(id, (differences.get(id) ?? 0) + difference);
    }
  }
  for (const [id, difference] of differences) {
    if (difference !== 0) (await changes.get(id)).pending += difference;
  }
}
