import { Injectable } from '@nestjs/common';

import { Settings } from '../../config/settings.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import type { Cleanup, Deletion } from './cleanup.js';
import {
  deleteAttempts,
  deleteEmptyGroups,
  deleteExecutions,
  deleteInputs,
  deleteToolCalls,
  type EndedExecution,
  findExecutionsAfter,
  findingFreeExecutions,
  uncountFailures,
} from './deleted-execution-rows.js';
import { deleteUsage } from './deleted-usage-rows.js';
import { SettledCorrelations } from './settled-correlations.js';

/**
 * Deletes executions that ended longer than `retain_executions` ago, with their inputs, attempts, model usage and tool
 * calls, and the failure groups that become empty. Their consumptions are deleted with the artifacts. It keeps executions of an active correlation or of a stored
 * run.
 */
@Injectable()
export class ExecutionDeletion implements Deletion {
  readonly name = 'executions';
  private readonly findFree = findingFreeExecutions((settledBy) => this.correlations.letsContentGo(settledBy));

  constructor(
    private readonly settings: Settings,
    private readonly unitOfWork: UnitOfWork,
    private readonly correlations: SettledCorrelations,
  ) {}

  async run(cleanup: Cleanup): Promise<number> {
    const cutoff = cleanup.cutoff(this.settings.retainExecutionsMs);
    if (cutoff === null) return 0;
    const { reader } = this.unitOfWork;
    const deleted = await cleanup.deleteEnded<EndedExecution>(cutoff, {
      next: (after) => findExecutionsAfter(reader, { after }),
      due: (ids) => this.findFree(reader, { settledBy: cleanup.settledBy, cutoff }, ids),
      remove: (tx, free) => this.deleteFree(tx, cleanup, cutoff, free),
    });
    while ((await cleanup.goesOn()) && (await cleanup.step((tx) => deleteEmptyGroups(tx, cutoff))) > 0);
    return deleted;
  }

  private async deleteFree(
    tx: Transaction,
    { settledBy }: Cleanup,
    cutoff: number,
    found: readonly EndedExecution[],
  ): Promise<number> {
    const held = await this.correlations.hold(
      tx,
      found.map(({ correlation_id }) => correlation_id),
      settledBy,
    );
    const candidates = found.filter(({ correlation_id }) => held.includes(correlation_id)).map(({ id }) => id);
    const free = await this.findFree(tx.db, { settledBy, cutoff }, candidates);
    const ids = free.map(({ id }) => id);
    await deleteInputs(tx.db, {}, ids);
    await deleteAttempts(tx.db, {}, ids);
    await deleteUsage(tx, ids);
    await deleteToolCalls(tx.db, {}, ids);
    await uncountFailures(tx.db, {}, ids);
    await deleteExecutions(tx.db, {}, ids);
    await this.correlations.removeEmpty(tx, held);
    return free.length;
  }
}
