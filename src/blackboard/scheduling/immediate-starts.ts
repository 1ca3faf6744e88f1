import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import type { ExecutionInput } from '../artifacts/execution-input.js';
import type { NewExecutionRow, NewLease } from './queued-execution-rows.js';

/** A slot of this process that is kept for an execution which a transaction adds. */
export interface KeptSlot {
  /** The lease with which the execution is stored. */
  lease: NewLease;
  /** Frees the slot: the execution was not stored as running. */
  release(): void;
  /** Counts its start in the transaction that has inserted it, if it was inserted as running. */
  countStart(execution: NewExecutionRow): Promise<void>;
  /** Starts it after the commit, if it was inserted as running. */
  start(execution: NewExecutionRow, inputs: ExecutionInput[]): void;
}

type Keep = (tx: Transaction, agent: string, executionId: string) => KeptSlot | null;

/**
 * Asks this process's executor for a slot when an execution is added, so that one which would be claimed next is stored
 * with its lease, and needs no claim.
 */
@Injectable()
export class ImmediateStarts {
  private executor: Keep = () => null;

  /** The executor calls this when it starts. */
  use(executor: Keep): void {
    this.executor = executor;
  }

  /** Returns null if the execution has to wait in the queue of its agent. A rollback frees the slot. */
  keepSlot(tx: Transaction, agent: string, executionId: string): KeptSlot | null {
    return this.executor(tx, agent, executionId);
  }
}
