import { type Insertable, sql } from 'kysely';

import { locking } from '../../database/dialects/dialect.js';
import { type Place, places, prepared, preparedWithList } from '../../database/prepared.js';
import type { BudgetReservationsTable } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';
import { isInState } from '../../queue/state-predicate.js';
import type { Amount } from './budget-room.js';

/** The reservation of a call whose usage is not known. Postgres returns some of the numbers as text. */
export interface ReservedCall {
  id: string;
  agent: string;
  leaseToken: string;
  attempt: number;
  model: string;
  tokens: number | string;
  input_tokens: number | string;
  cost: number;
  /** The lease under which the execution runs now; null if it has none. */
  currentLease: string | null;
}

/** An execution that waits for room in a budget, with what it needs. */
export interface Waiter extends Amount {
  id: string;
  agent: string;
}

/** The maximum number of waiters that are read at a time. A budget hardly ever has room for more. */
const AT_ONCE = 100;

type ExceptLease = { correlationId: string; exceptLease: string };

const callsOf = (db: Reader, place: Place<ExceptLease>) =>
  db
    .selectFrom('budget_reservations as reserved')
    .innerJoin('executions', 'executions.id', 'reserved.execution_id')
    .select([
      'executions.id',
      'reserved.agent',
      'reserved.lease_token as leaseToken',
      'executions.attempt',
      'reserved.model',
      'reserved.tokens',
      'reserved.input_tokens',
      'reserved.cost',
      'executions.lease_token as currentLease',
    ])
    .where('reserved.correlation_id', '=', place('correlationId'))
    .where('reserved.waits', '=', sql.lit(0))
    .where('reserved.lease_token', '!=', place('exceptLease'));

/** Finds the reservations of a correlation's calls. */
export const findCalls = prepared<ExceptLease, ReservedCall>(callsOf);

/** Finds the reservations whose execution has another lease now, or none. */
export const findCallsOfLostLeases = prepared<ExceptLease, ReservedCall>((db, place) =>
  callsOf(db, place).where(({ eb, or }) =>
    or([eb('executions.lease_token', 'is', null), eb('executions.lease_token', '!=', eb.ref('reserved.lease_token'))]),
  ),
);

/** Finds the execution if it runs under this lease. */
export const findRunningUnderLease = prepared<{ id: string; leaseToken: string }, { id: string }>((db, place) =>
  db
    .selectFrom('executions')
    .select('id')
    .where('id', '=', place('id'))
    .where('lease_token', '=', place('leaseToken'))
    .where(isInState('running')),
);

const COLUMNS = [
  'execution_id',
  'lease_token',
  'correlation_id',
  'agent',
  'tokens',
  'input_tokens',
  'model',
  'cost',
  'waits',
] as const;

/** Stores a reservation, in place of the execution's earlier one. */
export const putReservation = prepared<Insertable<BudgetReservationsTable>, unknown>((db, place) =>
  db
    .insertInto('budget_reservations')
    .values(places(place, COLUMNS))
    .onConflict((conflict) =>
      conflict
        .column('execution_id')
        .doUpdateSet(places(place, ['lease_token', 'tokens', 'input_tokens', 'model', 'cost', 'waits'])),
    ),
);

/** Sets the reservation to zero. The row stays until the attempt ends, because it marks the attempt as running. */
export const setToZero = prepared<{ id: string; leaseToken: string }, unknown>((db, place) =>
  db
    .updateTable('budget_reservations')
    .set({ tokens: 0, cost: 0 })
    .where('execution_id', '=', place('id'))
    .where('lease_token', '=', place('leaseToken')),
);

export const deleteOfExecution = prepared<{ id: string }, unknown>((db, place) =>
  db.deleteFrom('budget_reservations').where('execution_id', '=', place('id')),
);

export const deleteOfLease = prepared<{ id: string; leaseToken: string }, unknown>((db, place) =>
  db
    .deleteFrom('budget_reservations')
    .where('execution_id', '=', place('id'))
    .where('lease_token', '=', place('leaseToken')),
);

/** Deletes all reservations of a correlation. */
export const deleteAllOf = prepared<{ correlationId: string }, unknown>((db, place) =>
  db.deleteFrom('budget_reservations').where('correlation_id', '=', place('correlationId')),
);

/** Finds the execution if it waits for room. */
export const findWaiting = prepared<{ id: string }, { execution_id: string }>((db, place) =>
  db
    .selectFrom('budget_reservations')
    .select('execution_id')
    .where('execution_id', '=', place('id'))
    .where('waits', '=', sql.lit(1)),
);

/** Finds the executions that wait for room, ordered by the age of their executions, oldest first. */
export const findWaiters = prepared<{ correlationId: string }, Waiter>((db, place) =>
  db
    .selectFrom('budget_reservations as waiting')
    .innerJoin('executions', 'executions.id', 'waiting.execution_id')
    .select(['executions.id', 'waiting.agent', 'waiting.tokens', 'waiting.cost'])
    .where('waiting.correlation_id', '=', place('correlationId'))
    .where('waiting.waits', '=', sql.lit(1))
    .orderBy('executions.seq')
    .limit(AT_ONCE),
);

export const deleteOfExecutions = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('budget_reservations').where('execution_id', 'in', ids),
);

/**
 * Makes executions claimable, and returns their agents. An execution that still runs is not changed: before it is handed back, it checks whether it still has to wait.
 */
export const makeClaimable = preparedWithList<object, string, { agent: string }>((db, _place, ids) => {
  const waiting = db.selectFrom('executions').select('id').where('id', 'in', ids).where(isInState('pending'));
  return db
    .updateTable('executions')
    .set({ available_at: null })
    .where('id', 'in', locking(db, waiting, { wait: false }))
    .returning('agent');
});

/** The reservations of each agent whose leases are current, except that of the execution `without`. */
export const sumReserved = prepared<
  { correlationId: string; without: string },
  { agent: string; tokens: number | string; cost: number | string }
>((db, place) =>
  db
    .selectFrom('budget_reservations as reserved')
    .innerJoin('executions', (join) =>
      join
        .onRef('executions.id', '=', 'reserved.execution_id')
        .onRef('executions.lease_token', '=', 'reserved.lease_token'),
    )
    .select(({ fn }) => [
      'reserved.agent',
      fn.sum<number>('reserved.tokens').as('tokens'),
      fn.sum<number>('reserved.cost').as('cost'),
    ])
    .where('reserved.correlation_id', '=', place('correlationId'))
    .where('reserved.waits', '=', sql.lit(0))
    .where('reserved.execution_id', '!=', place('without'))
    .groupBy('reserved.agent'),
);
