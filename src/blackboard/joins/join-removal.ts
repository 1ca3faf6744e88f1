import { Injectable } from '@nestjs/common';
import { places, prepared, preparedWithList } from '../../database/prepared.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { correlationsOf, isWindow, lockKeyOf, type Member, ownerOf, type WaitingGroup, WaitingGroups } from './waiting-groups.js';

/** A member with the group that it is in. */
type Joined = WaitingGroup & Member;

/** A group and who belongs into it. */
interface Place {
  group: WaitingGroup;
  members: Member[];
}

/**
 * Takes the artifacts of a cancelled correlation, and those that have been kept long enough, out of the groups that wait. Those behind
 * them move up, as if these had never arrived: else a group would be left that lacks a type which a later one has, and never be completed.
 * Thousands of groups may wait for the same key, and all is one transaction: what does not move is not read.
 */
@Injectable()
export class JoinRemoval {
  constructor(
    private readonly groups: WaitingGroups,
    private readonly timers: TimerQueue,
  ) {}

  /**
   * Locks the keys under which artifacts of these correlations wait. Asked for before the correlations are held, as everybody does who
   * lets something arrive; and again after, for what has arrived in between.
   */
  async hold(tx: Transaction, correlationIds: readonly string[]): Promise<void> {
    await tx.lock(await this.lockKeys(tx.db, correlationIds));
  }

  /** The lock keys of the groups in which artifacts of these correlations wait. */
  async lockKeys(db: Reader, correlationIds: readonly string[]): Promise<string[]> {
    return (await findKeys(db, {}, correlationIds)).map(lockKeyOf);
  }

  async removeCorrelation(tx: Transaction, changes: CorrelationChanges, correlationId: string): Promise<void> {
    await this.takeOut(tx, changes, await findOwn(tx.db, { correlationId }), correlationId);
  }

  /** The same as `hold`, for these artifacts alone. */
  async holdArtifacts(tx: Transaction, seqs: readonly number[]): Promise<void> {
    await tx.lock((await findWaiting(tx.db, {}, seqs)).map(lockKeyOf));
  }

  /** Takes artifacts out of groups that wait without a time limit; the caller holds their locks. */
  async removeArtifacts(tx: Transaction, changes: CorrelationChanges, seqs: readonly number[]): Promise<void> {
    await this.takeOut(tx, changes, await findWaiting(tx.db, {}, seqs), null);
  }

  /** `owner`: the correlation whose completed groups go too. */
  private async takeOut(tx: Transaction, changes: CorrelationChanges, own: readonly Joined[], owner: string | null): Promise<void> {
    const partly: Joined[] = [];
    for (const members of Map.groupBy(own, ({ id }) => id).values()) {
      const group = members[0]!;
      if (group.state === 'complete') await this.dropUndecided(tx, group, owner);
      // Types that it lacks are not behind it either, so that those there stay together without it.
      else if (members.length === group.size) await this.groups.close(tx, group);
      else partly.push(...members);
    }
    for (const member of partly) await deleteMember(tx.db, member);
    for (const places of Map.groupBy(partly, ({ agent, subscription, key }) => JSON.stringify([agent, subscription, key])).values()) {
      await (isWindow(places[0]!) ? this.closeGaps(tx, places) : this.moveUp(tx, changes, places));
    }
  }

  /** A completed group belongs to its newest artifact's correlation, as its execution would; in another's hands it goes on. */
  private async dropUndecided(tx: Transaction, group: WaitingGroup, correlationId: string | null): Promise<void> {
    if (ownerOf(await this.groups.members(tx, group.id)) !== correlationId) return;
    await this.timers.cancel(tx, 'judge', group.id);
    await this.groups.remove(tx, group.id);
  }

  /** A window goes on with the others, whose positions follow each other again. */
  private async closeGaps(tx: Transaction, gone: Joined[]): Promise<void> {
    const window = gone[0]!;
    for (const [index, { position }] of gone.entries()) {
      await shift(tx.db, { id: window.id, after: position, before: gone[index + 1]?.position ?? window.size, by: index + 1 });
    }
    const [first] = await findFirst(tx.db, window);
    await this.groups.resize(tx, window, window.size - gone.length, first!.arrived_at);
  }

  private async moveUp(tx: Transaction, changes: CorrelationChanges, gone: Joined[]): Promise<void> {
    const { agent, subscription, key, ordinal } = gone[0]!;
    const rows = await findMovable(tx.db, { agent, subscription, key, ordinal, gone: gone.length });
    const before = [...Map.groupBy(rows, ({ id }) => id).values()].map((members): Place => ({ group: members[0]!, members }));
    const after = closedUp(before);
    await recount(changes, before, after);
    // In this order: the members of a group that is closed are in earlier ones by then.
    for (const place of after) {
      if (place.members.length === 0) await this.groups.close(tx, place.group);
      else if (hasChanged(place)) await this.rewrite(tx, place);
    }
  }

  private async rewrite(tx: Transaction, { group, members }: Place): Promise<void> {
    members.sort((one, other) => one.arrived_at - other.arrived_at || one.artifact_seq - other.artifact_seq);
    for (const [position, member] of members.entries()) {
      if (member.group_id === group.id && member.position === position) continue;
      await move(tx.db, { ...member, group_id: group.id, ordinal: group.ordinal, position });
    }
    await this.groups.resize(tx, group, members.length, members[0]!.arrived_at);
  }
}

/** The n-th of each type in the n-th group. */
function closedUp(places: Place[]): Place[] {
  const types = [...Map.groupBy(places.flatMap(({ members }) => members), ({ type }) => type).values()];
  return places.map(({ group }, index) => ({ group, members: types.flatMap((members) => members[index] ?? []) }));
}

const hasChanged = ({ group, members }: Place): boolean =>
  members.length !== group.size || members.some(({ group_id }) => group_id !== group.id);

/** A group with a time limit counts once in each correlation that has a member in it; most count as before in the end. */
async function recount(changes: CorrelationChanges, before: Place[], after: Place[]): Promise<void> {
  const differences = new Map<string, number>();
  for (const [places, difference] of [[before, -1], [after, 1]] as const) {
    for (const { group, members } of places) {
      if (group.closes_at === null) continue;
      for (const id of correlationsOf(members)) differences.set(id, (differences.get(id) ?? 0) + difference);
    }
  }
  for (const [id, difference] of differences) {
    if (difference !== 0) (await changes.get(id)).pending += difference;
  }
}

const OF_MEMBER = ['artifact_seq', 'group_id', 'position', 'type', 'correlation_id', 'arrived_at'] as const;

const findKeys = preparedWithList<object, string, Pick<WaitingGroup, 'agent' | 'subscription' | 'key'>>((db, _place, correlationIds) =>
  db.selectFrom('join_arrivals').select(['agent', 'subscription', 'key']).distinct().where('correlation_id', 'in', correlationIds),
);

const findOwn = prepared<{ correlationId: string }, Joined>((db, place) =>
  db
    .selectFrom('join_arrivals')
    .innerJoin('join_groups', 'join_groups.id', 'join_arrivals.group_id')
    .selectAll('join_groups')
    .select(OF_MEMBER)
    .where('correlation_id', '=', place('correlationId'))
    .orderBy('join_groups.ordinal')
    .orderBy('position'),
);

const findWaiting = preparedWithList<object, number, Joined>((db, _place, seqs) =>
  db
    .selectFrom('artifacts')
    .innerJoin('join_arrivals', (join) =>
      join.onRef('join_arrivals.correlation_id', '=', 'artifacts.correlation_id').onRef('join_arrivals.artifact_seq', '=', 'artifacts.seq'),
    )
    .innerJoin('join_groups', 'join_groups.id', 'join_arrivals.group_id')
    .selectAll('join_groups')
    .select(['join_arrivals.artifact_seq', 'join_arrivals.group_id', 'join_arrivals.position', 'join_arrivals.type', 'join_arrivals.correlation_id', 'join_arrivals.arrived_at'])
    .where('artifacts.seq', 'in', seqs)
    .orderBy('join_groups.ordinal')
    .orderBy('join_arrivals.position'),
);

/**
 * The members of a key's groups from `ordinal` on, in order. Groups of one member end the sequence, and all these are of one
 * type: of them as many are needed as there may be gaps before them, and the others stay as they are.
 */
const findMovable = prepared<Pick<WaitingGroup, 'agent' | 'subscription' | 'key' | 'ordinal'> & { gone: number }, Joined>((db, place) => {
  const groups = db
    .selectFrom('join_groups')
    .where('join_groups.agent', '=', place('agent'))
    .where('join_groups.subscription', '=', place('subscription'))
    .where('join_groups.key', '=', place('key'))
    .where('join_groups.ordinal', '>=', place('ordinal'))
    .where('state', '=', 'waiting')
    .orderBy('join_groups.ordinal');
  const firstToStay = groups.select('join_groups.ordinal').where('size', '=', 1).limit(1).offset(place('gone'));
  return groups
    .innerJoin('join_arrivals', 'join_arrivals.group_id', 'join_groups.id')
    .selectAll('join_groups')
    .select(OF_MEMBER)
    .where(({ eb, fn, lit }) => eb('join_groups.ordinal', '<', fn.coalesce(firstToStay, lit(Number.MAX_SAFE_INTEGER))))
    .orderBy('position');
});

const findFirst = prepared<Pick<WaitingGroup, 'id'>, Pick<Member, 'arrived_at'>>((db, place) =>
  db.selectFrom('join_arrivals').select('arrived_at').where('group_id', '=', place('id')).orderBy('position').limit(1),
);

const deleteMember = prepared<Member, unknown>((db, place) =>
  db
    .deleteFrom('join_arrivals')
    .where('agent', '=', place('agent'))
    .where('subscription', '=', place('subscription'))
    .where('artifact_seq', '=', place('artifact_seq')),
);

const move = prepared<Member, unknown>((db, place) =>
  db
    .updateTable('join_arrivals')
    .set(places(place, ['group_id', 'ordinal', 'position']))
    .where('agent', '=', place('agent'))
    .where('subscription', '=', place('subscription'))
    .where('artifact_seq', '=', place('artifact_seq')),
);

const shift = prepared<{ id: string; after: number; before: number; by: number }, unknown>((db, place) =>
  db
    .updateTable('join_arrivals')
    .set(({ eb }) => ({ position: eb('position', '-', place('by')) }))
    .where('group_id', '=', place('id'))
    .where('position', '>', place('after'))
    .where('position', '<', place('before')),
);
