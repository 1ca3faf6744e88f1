import { changeStored } from '../change-stored.js';

/** The times that retention compares; leases and timers stay unchanged. */
const TIMES: Record<string, string[]> = {
  artifacts: ['created_at'],
  artifact_counts: ['earliest_created_at', 'latest_created_at'],
  correlations: ['started_at', 'last_activity_at', 'settled_at'],
  executions: ['created_at', 'started_at', 'ended_at'],
  execution_attempts: ['started_at', 'ended_at'],
  runs: ['created_at', 'ended_at'],
  idempotency_keys: ['expires_at'],
  scheduler_locks: ['due_at'],
};

/**
 * Makes all stored rows older, and the next run of each scheduled job due sooner. No process may have the database
 * open.
 */
export const makeOlder = (url: string, ms: number): Promise<void> =>
  changeStored(
    url,
    ...Object.entries(TIMES).map(
      ([table, columns]) => `update ${table} set ${columns.map((column) => `${column} = ${column} - ${ms}`).join()}`,
    ),
  );
