import type { Selectable } from 'kysely';

import type { OperationsTable } from '../../database/schema.js';
import type { Transaction } from '../../database/unit-of-work.js';

/** An operation over many executions, as it is stored. */
export type Operation = Selectable<OperationsTable>;

/** Which executions an operation handles. An execution must match all fields. Times are epoch ms. */
export interface OperationFilter {
  failureGroup?: string;
  agent?: string;
  errorType?: string;
  correlationId?: string;
  /** Retries: failed at this time or later. Otherwise: created at this time or later. */
  from?: number;
  /** The same, or earlier. */
  to?: number;
}

/** When an operation began, and the position of the last execution then. */
export type Start = Pick<Operation, 'created_at' | 'up_to_seq'>;

/** How many executions a step handled, and how many it could not handle. */
export interface Handled {
  done: number;
  failed: number;
  /** Why the last of those could not be handled. Null if there are none. */
  lastError: string | null;
}

/** A part of an operation, done in one transaction. */
export interface Step {
  /** The value of `operations.position` after the step. */
  position: number;
  /** Names that the transaction locks before it changes anything. */
  locks: readonly string[];
  run(tx: Transaction): Promise<Handled>;
}

/**
 * The work of one kind of operation. A step must be safe to run for executions that have changed since it was found: it
 * handles only those that still match.
 */
export interface OperationWork {
  /** Throws DomainError if the operation makes no sense. */
  check(filter: OperationFilter): Promise<void>;
  count(filter: OperationFilter, start: Start): Promise<number>;
  /** Returns the next steps after `operation.position`. The operation is complete when there are none. */
  next(operation: Operation, filter: OperationFilter): Promise<Step[]>;
  /** Whether the service has room for the next step. */
  hasRoom(): boolean;
}

/** Executions in one transaction. It bounds how long other writers wait. */
const AT_ONCE = 20;

/** Splits what was found into the parts for single transactions. */
export const inParts = <T>(found: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(found.length / AT_ONCE) }, (_, part) =>
    found.slice(part * AT_ONCE, (part + 1) * AT_ONCE),
  );
