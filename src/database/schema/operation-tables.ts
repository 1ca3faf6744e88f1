import type { Generated } from 'kysely';

export interface OperationTables {
  operations: OperationsTable;
}

export type OperationKind = 'retry' | 'fail';

export type OperationState = 'running' | 'completed' | 'cancelled';

/** An operation over many executions, which a background step continues. */
export interface OperationsTable {
  seq: Generated<number>;
  id: string;
  kind: OperationKind;
  /** JSON of an OperationFilter (src/blackboard/operations/operation.ts). */
  filter: string;
  state: OperationState;
  /** How many executions matched when it started. */
  matched: number;
  done: Generated<number>;
  failed: Generated<number>;
  /** Why the last of those that failed could not be handled. */
  last_error: Generated<string | null>;
  /** The position in `executions` up to which it has handled what it retries. */
  position: Generated<number>;
  /** It leaves out executions after this position. */
  up_to_seq: number;
  created_at: number;
  ended_at: Generated<number | null>;
}
