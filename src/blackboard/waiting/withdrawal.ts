import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlation-tracker.js';
import { TimerQueue } from './timer-queue.js';
import { correlationsOf, isWindow, type Member, ownerOf, type WaitingGroup, WaitingGroups } from './waiting-groups.js';

type Line = Pick<WaitingGroup, 'agent' | 'subscription' | 'key'>;

/** A group and who belongs into it, before or after a withdrawal. */
interface Place {
  group: WaitingGroup;
  members: Member[];
}

/**
 * Takes the artifacts of a cancelled correlation out of the groups that wait. Those behind them move up, as if what was
 * cancelled had never arrived: else a group would be left that lacks a type which a later one has, and never be completed.
 */
@Injectable()
export class Withdrawal {
  constructor(
    private readonly groups: WaitingGroups,
    private readonly timers: TimerQueue,
  ) {}

  async withdraw(tx: Transaction, changes: CorrelationChanges, correlationId: string): Promise<void> {
    const groups = await tx.db
      .selectFrom('join_arrivals')
      .innerJoin('join_groups', 'join_groups.id', 'join_arrivals.group_id')
      .selectAll('join_groups')
      .distinct()
      .where('join_arrivals.correlation_id', '=', correlationId)
      .execute();
    for (const group of groups.filter(({ state }) => state === 'complete')) await this.dropUndecided(tx, group, correlationId);
    const lines = new Map(groups.filter(({ state }) => state === 'waiting').map((group) => [JSON.stringify([group.agent, group.subscription, group.key]), group]));
    for (const line of lines.values()) await this.moveUp(tx, changes, line, correlationId);
  }

  /** A completed group belongs to its newest artifact's correlation, as its execution would; in another's hands it goes on. */
  private async dropUndecided(tx: Transaction, group: WaitingGroup, correlationId: string): Promise<void> {
    if (ownerOf(await this.groups.members(tx, group.id)) !== correlationId) return;
    await this.timers.cancel(tx, 'judge', group.id);
    await this.groups.remove(tx, group.id);
  }

  private async moveUp(tx: Transaction, changes: CorrelationChanges, line: Line, correlationId: string): Promise<void> {
    const before = await this.placesIn(tx, line);
    const left = before.map(({ group, members }) => ({ group, members: members.filter((member) => member.correlation_id !== correlationId) }));
    const after = isWindow(line) ? left : closedUp(left);
    await this.recount(changes, before, after, correlationId);
    await removeOwn(tx, line, correlationId);
    for (const [index, place] of after.entries()) {
      if (place.members.length === 0) await this.close(tx, place.group);
      else if (!hasSameMembers(place, before[index]!)) await this.rewrite(tx, place);
    }
  }

  /** In the order in which they were opened. */
  private async placesIn(tx: Transaction, { agent, subscription, key }: Line): Promise<Place[]> {
    const groups = await tx.db
      .selectFrom('join_groups')
      .selectAll()
      .where('agent', '=', agent)
      .where('subscription', '=', subscription)
      .where('key', '=', key)
      .where('state', '=', 'waiting')
      .orderBy('ordinal')
      .execute();
    const places: Place[] = [];
    for (const group of groups) places.push({ group, members: await this.groups.members(tx, group.id) });
    return places;
  }

  // A group with a time limit counts once in each correlation that has a member in it.
  private async recount(changes: CorrelationChanges, before: Place[], after: Place[], cancelled: string): Promise<void> {
    for (const [places, difference] of [[before, -1], [after, 1]] as const) {
      for (const { group, members } of places) {
        if (group.closes_at === null) continue;
        for (const id of correlationsOf(members)) {
          if (id !== cancelled) (await changes.get(id)).pending += difference;
        }
      }
    }
  }

  private async close(tx: Transaction, group: WaitingGroup): Promise<void> {
    await this.timers.cancel(tx, 'close', group.id);
    await this.groups.remove(tx, group.id);
  }

  private async rewrite(tx: Transaction, { group, members }: Place): Promise<void> {
    for (const [position, member] of members.entries()) {
      await tx.db
        .updateTable('join_arrivals')
        .set({ group_id: group.id, ordinal: group.ordinal, position })
        .where('agent', '=', group.agent)
        .where('subscription', '=', group.subscription)
        .where('artifact_seq', '=', member.artifact_seq)
        .execute();
    }
    await this.restartClock(tx, group, members);
    await tx.db.updateTable('join_groups').set({ size: members.length }).where('id', '=', group.id).execute();
  }

  /** The limit runs from the first arrival, which may be another one now. */
  private async restartClock(tx: Transaction, group: WaitingGroup, members: Member[]): Promise<void> {
    const openedAt = members[0]!.arrived_at;
    if (group.closes_at === null || openedAt === group.opened_at) return;
    const closesAt = openedAt + (group.closes_at - group.opened_at);
    await tx.db.updateTable('join_groups').set({ opened_at: openedAt, closes_at: closesAt }).where('id', '=', group.id).execute();
    await this.timers.cancel(tx, 'close', group.id);
    await this.timers.set(tx, 'close', closesAt, group.id);
  }
}

const removeOwn = (tx: Transaction, { agent, subscription, key }: Line, correlationId: string): Promise<unknown> =>
  tx.db
    .deleteFrom('join_arrivals')
    .where('correlation_id', '=', correlationId)
    .where('group_id', 'in', ({ selectFrom }) =>
      selectFrom('join_groups')
        .select('id')
        .where('agent', '=', agent)
        .where('subscription', '=', subscription)
        .where('key', '=', key)
        .where('state', '=', 'waiting'),
    )
    .execute();

/** The n-th of each type in the n-th group. */
function closedUp(places: Place[]): Place[] {
  const lines = Map.groupBy(places.flatMap(({ members }) => members), ({ type }) => type);
  return places.map(({ group }, index) => {
    const members = [...lines.values()].flatMap((line) => line[index] ?? []);
    return { group, members: members.sort((one, other) => one.artifact_seq - other.artifact_seq) };
  });
}

const hasSameMembers = (one: Place, other: Place): boolean =>
  one.members.length === other.members.length && one.members.every(({ artifact_seq }, index) => artifact_seq === other.members[index]!.artifact_seq);
