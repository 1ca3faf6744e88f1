import { type LeasedRow, type LeasedTable, leasedTable } from '../../queue/leased-table.js';

/** Executions wait in the queues of their agents. */
export const EXECUTIONS = leasedTable('executions', 'agent', ['correlation_id', 'attempt', 'direct', 'batch', 'traceparent', 'assignee', 'due_at']);

/** Those that are assigned to nobody. */
export const UNASSIGNED: LeasedTable = { ...EXECUTIONS, owner: 'assignee' };

/** What is read of an execution that is claimed, or whose lease was lost. */
export interface ExecutionRow extends LeasedRow {
  correlation_id: string;
  attempt: number;
  direct: number;
  batch: number;
  traceparent: string | null;
  assignee: string | null;
  due_at: number | null;
}
