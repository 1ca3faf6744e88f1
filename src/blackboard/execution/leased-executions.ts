import { type LeasedRow, type LeasedTable, leasedTable } from '../../queue/leased-table.js';

/** Executions as rows of a queue. Each agent has a queue. */
export const EXECUTIONS = leasedTable('executions', 'agent', [
  'correlation_id',
  'attempt',
  'round',
  'attempt_started_at',
  'direct',
  'batch',
  'traceparent',
  'assignee',
  'due_at',
]);

/** Only executions without an assignee. */
export const UNASSIGNED: LeasedTable = { ...EXECUTIONS, owner: 'assignee' };

/** The columns that are read when an execution is claimed or its lease is lost. */
export interface ExecutionRow extends LeasedRow {
  correlation_id: string;
  attempt: number;
  round: number;
  /** Null if it has not been claimed in this round. */
  attempt_started_at: number | null;
  direct: number;
  batch: number;
  traceparent: string | null;
  assignee: string | null;
  due_at: number | null;
}
