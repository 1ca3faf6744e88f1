import type { Selectable } from 'kysely';

import { preparedInsert } from '../../database/prepared.js';
import type { ExecutionAttemptsTable } from '../../database/schema.js';
import type { Transaction } from '../../database/unit-of-work.js';

/** Stores a failed attempt in the history, before the next attempt overwrites its fields in the execution's row. */
export const recordFailedAttempt = (tx: Transaction, attempt: Selectable<ExecutionAttemptsTable>): Promise<void> =>
  insertAttempts(tx.db, [attempt]);

const insertAttempts = preparedInsert('execution_attempts', [
  'execution_id',
  'round',
  'attempt',
  'started_at',
  'ended_at',
  'error_type',
  'error_message',
]);
