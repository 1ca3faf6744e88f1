import { locking } from '../../database/dialects/dialect.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { isInState } from '../../queue/state-predicate.js';
import { type ExecutionRow, EXECUTIONS } from '../execution/leased-executions.js';

/** Returns the correlations of those of the executions that wait. */
export async function findCorrelations({ db }: Transaction, ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('executions')
    .select('correlation_id')
    .distinct()
    .where('id', 'in', ids)
    .where(isInState('pending'))
    .execute();
  return rows.map(({ correlation_id }) => correlation_id);
}

/** Finds and locks those of the executions that wait. */
export const holdWaiting = (
  { db }: Transaction,
  ids: readonly string[],
): Promise<(ExecutionRow & { agent: string; configuration: string | null })[]> =>
  locking(
    db,
    EXECUTIONS.select(db)
      .select(['agent', 'configuration'])
      .where('id', 'in', ids)
      .where(isInState('pending'))
      .orderBy('id'),
    {
      wait: true,
    },
  ).execute();
