import { places, prepared, preparedWithList } from '../../database/prepared.js';
import type { Member, WaitingGroup } from './join-group-rows.js';
import type { GroupKey } from './lock-keys.js';

/** A member together with its group. */
export type Joined = WaitingGroup & Member;

const OF_MEMBER = ['artifact_seq', 'group_id', 'position', 'type', 'correlation_id', 'arrived_at'] as const;

/** Finds the keys under which artifacts of these correlations wait. */
export const findKeysOf = preparedWithList<object, string, GroupKey>((db, _place, correlationIds) =>
  db
    .selectFrom('join_arrivals')
    .select(['agent', 'subscription', 'key'])
    .distinct()
    .where('correlation_id', 'in', correlationIds),
);

/** Finds the members of a correlation, by group and position. */
export const findJoinedOf = prepared<{ correlationId: string }, Joined>((db, place) =>
  db
    .selectFrom('join_arrivals')
    .innerJoin('join_groups', 'join_groups.id', 'join_arrivals.group_id')
    .selectAll('join_groups')
    .select(OF_MEMBER)
    .where('correlation_id', '=', place('correlationId'))
    .orderBy('join_groups.ordinal')
    .orderBy('position'),
);

/** Finds the members at these positions of the blackboard, by group and position. */
export const findJoinedAt = preparedWithList<object, number, Joined>((db, _place, seqs) =>
  db
    .selectFrom('artifacts')
    .innerJoin('join_arrivals', (join) =>
      join
        .onRef('join_arrivals.correlation_id', '=', 'artifacts.correlation_id')
        .onRef('join_arrivals.artifact_seq', '=', 'artifacts.seq'),
    )
    .innerJoin('join_groups', 'join_groups.id', 'join_arrivals.group_id')
    .selectAll('join_groups')
    .select([
      'join_arrivals.artifact_seq',
      'join_arrivals.group_id',
      'join_arrivals.position',
      'join_arrivals.type',
      'join_arrivals.correlation_id',
      'join_arrivals.arrived_at',
    ])
    .where('artifacts.seq', 'in', seqs)
    .orderBy('join_groups.ordinal')
    .orderBy('join_arrivals.position'),
);

/**
 * Finds the members of a key's groups from `ordinal` on, in order. The sequence ends with groups of one member, all of the
 * same type. Only as many of these are read as there may be gaps before them; the others do not change.
 */
export const findMovable = prepared<GroupKey & { ordinal: number; gone: number }, Joined>((db, place) => {
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

/** Finds when the first member of a group arrived. */
export const findFirstArrival = prepared<Pick<WaitingGroup, 'id'>, Pick<Member, 'arrived_at'>>((db, place) =>
  db.selectFrom('join_arrivals').select('arrived_at').where('group_id', '=', place('id')).orderBy('position').limit(1),
);

export const deleteMember = prepared<Member, unknown>((db, place) =>
  db
    .deleteFrom('join_arrivals')
    .where('agent', '=', place('agent'))
    .where('subscription', '=', place('subscription'))
    .where('artifact_seq', '=', place('artifact_seq')),
);

/** Stores the place of a member that has moved. */
export const moveMember = prepared<Member, unknown>((db, place) =>
  db
    .updateTable('join_arrivals')
    .set(places(place, ['group_id', 'ordinal', 'position']))
    .where('agent', '=', place('agent'))
    .where('subscription', '=', place('subscription'))
    .where('artifact_seq', '=', place('artifact_seq')),
);

/** Subtracts `by` from the positions between `after` and `before`. */
export const shiftMembers = prepared<{ id: string; after: number; before: number; by: number }, unknown>((db, place) =>
  db
    .updateTable('join_arrivals')
    .set(({ eb }) => ({ position: eb('position', '-', place('by')) }))
    .where('group_id', '=', place('id'))
    .where('position', '>', place('after'))
    .where('position', '<', place('before')),
);
