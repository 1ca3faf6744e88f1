import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import type { OperationKind } from '../../database/schema.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import type { Operation, OperationFilter, Start } from './operation.js';
import { OperationLoop } from './operation-loop.js';
import { endOperation, findOperation, findOperations, findRunning, insertOperation } from './operation-rows.js';
import { OperationWorks } from './operation-works.js';

export const MOST_RUNNING_OPERATIONS = 10;

/** Lock name of the number of running operations. */
const OPERATIONS = 'operations';

/** Starts, shows and cancels operations over many executions. They run in the background and survive restarts. */
@Injectable()
export class Operations {
  constructor(
    private readonly works: OperationWorks,
    private readonly loop: OperationLoop,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Returns how many executions an operation would handle now. Throws the DomainErrors of `start`, except `conflict`. */
  async count(kind: OperationKind, filter: OperationFilter): Promise<number> {
    await this.works.of(kind).check(filter);
    return this.works.of(kind).count(filter, await this.now());
  }

  /**
   * Starts an operation, unless one with this id exists, and returns it. DomainError: `conflict` (too many are running),
   * and those of the kind's `check`.
   */
  async start(id: string, kind: OperationKind, filter: OperationFilter): Promise<Operation> {
    const existing = await findOperation(this.unitOfWork.reader, id);
    if (existing) return existing;
    const work = this.works.of(kind);
    await work.check(filter);
    const start = await this.now();
    const matched = await work.count(filter, start);
    const progress =
      matched === 0
        ? { state: 'completed' as const, ended_at: start.created_at }
        : { state: 'running' as const, ended_at: null };
    await this.unitOfWork.run(async (tx) => {
      await tx.lock([OPERATIONS]);
      await this.refuseTooMany(tx);
      await insertOperation(tx, { id, kind, filter: JSON.stringify(filter), ...progress, matched, ...start });
    });
    const started = await this.get(id);
    void this.loop.run();
    return started;
  }

  /** Throws DomainError `not_found`. */
  async get(id: string): Promise<Operation> {
    const operation = await findOperation(this.unitOfWork.reader, id);
    if (!operation) throw new DomainError('not_found', `Operation not found: ${id}`);
    return operation;
  }

  /** Returns the page, newest first, plus one further operation where there are more. */
  list(page: { limit: number; offset: number }): Promise<Operation[]> {
    return findOperations(this.unitOfWork.reader, page);
  }

  /** Executions that it has handled stay as they are. DomainError: `not_found`, `conflict` (it has ended). */
  async cancel(id: string): Promise<Operation> {
    const isCancelled = await this.unitOfWork.run((tx) => endOperation(tx, id, 'cancelled', this.clock.now()));
    const operation = await this.get(id);
    if (!isCancelled) {
      throw new DomainError(
        'conflict',
        `Operation ${id} has already ended (${operation.state}) and cannot be cancelled`,
      );
    }
    return operation;
  }

  private async now(): Promise<Start> {
    return { created_at: this.clock.now(), up_to_seq: await this.unitOfWork.lastPosition('executions') };
  }

  private async refuseTooMany({ db }: Transaction): Promise<void> {
    if ((await findRunning(db)).length < MOST_RUNNING_OPERATIONS) return;
    throw new DomainError(
      'conflict',
      `${MOST_RUNNING_OPERATIONS} operations are running, which is the most; wait until one has ended, or cancel one`,
    );
  }
}
