import { type Selectable, sql } from 'kysely';

import { failureGroupOf } from '../../common/failure-group.js';
import { random } from '../../common/random.js';
import { places, prepared } from '../../database/prepared.js';
import type { ExecutionAttemptsTable, ExecutionsTable } from '../../database/schema.js';
import { sharing, updateGiven } from '../../database/shared-statement.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { changeState } from '../../queue/change-state.js';
import { NO_LEASE } from '../../queue/leased-rows.js';
import { isInState } from '../../queue/state-predicate.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import type { EndingExecution, ExecutionFailure } from './ending-execution.js';

type NextState =
  | { state: 'pending'; attempt: number; availableAt: number | null }
  | { state: 'completed'; endedAt: number }
  | { state: 'failed'; endedAt: number; failure: ExecutionFailure };

const CHANGED = [
  'attempt',
  'available_at',
  'ended_at',
  'error_type',
  'error_message',
  'error_cause',
  'error_stack',
  'failure_group',
  'ended_lease',
  'ended_answer',
  'definition',
  'variant',
] as const;

type Change = Pick<Selectable<ExecutionsTable>, (typeof CHANGED)[number]> & Pick<NextState, 'state'>;

/** Fields of the execution from before its lease was released. */
export type ReleasedExecution = Pick<Selectable<ExecutionAttemptsTable>, 'round' | 'started_at'> &
  Pick<Selectable<ExecutionsTable>, 'due_at' | 'singleton_key' | 'held_keys'>;

/**
 * Releases the lease and sets the next state. Undefined if the lease is no longer held; then the outcome must not be
 * committed.
 */
export async function releaseLease(
  tx: Transaction,
  execution: EndingExecution,
  next: NextState,
): Promise<ReleasedExecution | undefined> {
  const { id, agent, leaseToken, attempt, replay, definition = null, variant = null } = execution;
  const { fromOutside = false, answerDigest = null } = execution;
  const failure = next.state === 'failed' ? next.failure : null;
  const [released] = await updateUnderLease(tx.db, {
    id,
    leaseToken,
    state: next.state,
    attempt: next.state === 'pending' ? next.attempt : attempt,
    available_at: next.state === 'pending' ? next.availableAt : null,
    ended_at: next.state === 'pending' ? null : next.endedAt,
    error_type: failure?.type ?? null,
    error_message: failure?.message ?? null,
    error_cause: failure?.details?.cause ?? null,
    error_stack: failure?.details?.stack ?? null,
    // Operators look after failures of live work only.
    failure_group: failure && !replay ? failureGroupOf(agent, failure.type, failure.message).id : null,
    ended_lease: fromOutside ? leaseToken : null,
    ended_answer: answerDigest,
    definition: next.state === 'pending' ? null : definition,
    variant: next.state === 'pending' ? null : variant,
  });
  return released;
}

/** Like `releaseLease`, but locks the correlation first. Cancelling locks them in the same order. */
export async function finishUnderLease(
  changes: CorrelationChanges,
  tx: Transaction,
  execution: EndingExecution,
  next: NextState,
): Promise<ReleasedExecution | undefined> {
  const [, released] = await Promise.all([changes.get(execution.correlationId), releaseLease(tx, execution, next)]);
  return released;
}

const updateUnderLease = sharing<Change & { id: string; leaseToken: string }, ReleasedExecution>(
  prepared((db, place) =>
    changeState(db, 'executions', ['running'], place('state'))
      .set({ ...places(place, CHANGED), ...NO_LEASE })
      .where('id', '=', place('id'))
      .where('lease_token', '=', place('leaseToken'))
      .returning(['round', 'attempt_started_at as started_at', 'due_at', 'singleton_key', 'held_keys']),
  ),
  {
    table: 'executions',
    columns: ['id', 'lease_token', 'state', ...CHANGED],
    rowOf: ({ leaseToken, ...change }) => ({ ...change, lease_token: leaseToken }),
    key: 'id',
    answers: true,
    addsRows: false,
    build: (db, given) =>
      updateGiven(changeState(db, 'executions', ['running'], sql.ref<Change['state']>('given.state')), {
        table: 'executions',
        columns: CHANGED,
        given,
      })
        .set(NO_LEASE)
        .whereRef('executions.lease_token', '=', 'given.lease_token' as never)
        .returning([
          'executions.id',
          'executions.round',
          'executions.attempt_started_at as started_at',
          'executions.due_at',
          'executions.singleton_key',
          'executions.held_keys',
        ]),
  },
);

/**
 * Removes the owner of the lease, so that the attempt ends by its token or its expiry. No row if the lease is not held.
 */
export const deferToLease = prepared<{ id: string; leaseToken: string; until: number }, { id: string }>((db, place) =>
  db
    .updateTable('executions')
    .set({ lease_owner: null, lease_until: place('until'), deferred_lease: place('leaseToken') })
    .where('id', '=', place('id'))
    .where(isInState('running'))
    .where('lease_token', '=', place('leaseToken'))
    .returning('id'),
);

/** Leases a waiting execution, which the transaction has locked, in order to end it. No attempt begins. */
export async function leaseToEnd(tx: Transaction, id: string): Promise<string> {
  const leaseToken = random.uuid();
  await changeState(tx.db, 'executions', ['pending'], 'running')
    .set({ lease_token: leaseToken, attempt_started_at: null, blocked_on: null })
    .where('id', '=', id)
    .execute();
  return leaseToken;
}
