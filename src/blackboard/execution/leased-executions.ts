import { queueOver, type RowOf } from '../../queue/queue.js';

/** Executions as rows of a queue. Each agent has a queue. */
export const EXECUTIONS = queueOver('executions', 'agent', [
  'correlation_id',
  'attempt',
  'round',
  'attempt_started_at',
  'lost_leases',
  'direct',
  'replay',
  'batch',
  'traceparent',
  'assignee',
  'due_at',
  'limit_keys',
  'held_keys',
  'unblocked',
  'counted_in',
  'fair_key',
  'fair_weight',
]);

/** Only executions without an assignee. */
export const UNASSIGNED: typeof EXECUTIONS = { ...EXECUTIONS, unless: 'assignee' };

/** The columns that are read when an execution is claimed or its lease is lost. */
export type ExecutionRow = RowOf<typeof EXECUTIONS>;
