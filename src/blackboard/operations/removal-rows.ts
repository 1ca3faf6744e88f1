import { sql } from 'kysely';

import type { Reader } from '../../database/unit-of-work.js';
import { countGroups, type WaitingGroup } from '../joins/join-group-rows.js';
import type { SubscriptionPlace } from '../matching/subscription-rows.js';

const GROUPS_AT_ONCE = 100;

/** Counts the groups that wait in the subscriptions. */
export async function countGroupsAt(reader: Reader, places: readonly SubscriptionPlace[]): Promise<number> {
  if (places.length === 0) return 0;
  return (await countGroups(reader, places)).reduce((sum, { count }) => sum + count, 0);
}

/** Finds some groups that wait in the subscription. */
export const findGroups = (reader: Reader, { agent, subscription }: SubscriptionPlace): Promise<WaitingGroup[]> =>
  reader
    .selectFrom('join_groups')
    .selectAll()
    .where('agent', '=', agent)
    .where('subscription', '=', subscription)
    .limit(GROUPS_AT_ONCE)
    .execute();

/** Whether the database has an execution or an artifact of an agent with this name. Ended executions count. */
export async function isStored(reader: Reader, agent: string): Promise<boolean> {
  const executions = reader.selectFrom('executions').select('seq').where('agent', '=', agent).limit(1);
  const pending = executions.where('state', '=', sql.lit('pending' as const));
  // One query per partial index; one query over all would read the whole table.
  const places = [
    pending.where('available_at', 'is', null),
    pending.where('available_at', 'is not', null),
    executions.where('state', '=', sql.lit('running' as const)),
    executions.where('ended_at', 'is not', null),
    reader.selectFrom('artifacts').select('seq').where('produced_by', '=', agent).limit(1),
  ];
  const found = await Promise.all(places.map((place) => place.executeTakeFirst()));
  return found.some((row) => row !== undefined);
}
