import { sql } from 'kysely';

import { locking } from '../../database/dialects/dialect.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { columnsOf } from '../../queue/leased-table.js';
import { TAKEN_AT_ONCE } from '../../queue/row-leases.js';
import { type ExecutionRow, EXECUTIONS } from '../execution/leased-executions.js';
import type { WaitingGroup } from '../joins/join-group-rows.js';
import type { SubscriptionPlace } from '../matching/subscription-rows.js';

/** Locks some waiting executions of the agent. Two queries, because each uses one of the partial indexes of the queue. */
export async function findWaiting({ db }: Transaction, agent: string): Promise<ExecutionRow[]> {
  const waiting = db
    .selectFrom('executions')
    .select(columnsOf(EXECUTIONS))
    .where('agent', '=', agent)
    .where('state', '=', sql.lit('pending' as const))
    .limit(TAKEN_AT_ONCE);
  const ready = await locking(db, waiting.where('available_at', 'is', null), { wait: false })
    .$castTo<ExecutionRow>()
    .execute();
  return ready.length > 0
    ? ready
    : locking(db, waiting.where('available_at', 'is not', null), { wait: false })
        .$castTo<ExecutionRow>()
        .execute();
}

/** Leases executions without beginning an attempt. `until`: epoch ms. */
export async function seize(
  { db }: Transaction,
  ids: readonly string[],
  lease: { leaseToken: string; owner: string; until: number },
): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('executions')
    .set({
      state: 'running',
      available_at: null,
      lease_token: lease.leaseToken,
      lease_owner: lease.owner,
      lease_until: lease.until,
      attempt_started_at: null,
    })
    .where('id', 'in', ids)
    .execute();
}

/** Finds some groups that wait in the subscription. */
export const findGroups = (reader: Reader, { agent, subscription }: SubscriptionPlace): Promise<WaitingGroup[]> =>
  reader
    .selectFrom('join_groups')
    .selectAll()
    .where('agent', '=', agent)
    .where('subscription', '=', subscription)
    .limit(TAKEN_AT_ONCE)
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
