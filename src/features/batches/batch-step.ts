import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { newId } from '../../common/ids.js';
import type { JsonObject } from '../../common/json.js';
import { Settings } from '../../config/settings.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { type BatchItem, RunStarts } from '../runs/run-starts.js';
import type { BatchRow } from './batch.js';
import { BatchEvents } from './batch-events.js';
import { BatchRowsRepository, type DueRow } from './batch-rows.repository.js';
import { BatchesRepository, type RunningBatch } from './batches.repository.js';
import { WaitingBytes, waitingBytes } from './waiting-bytes.js';

/**
 * Maximum number of rows that one transaction reads, and of input characters that it starts. On SQLite it blocks every
 * other writer.
 */
const LOOKED_AT_ONCE = 200;
const MOST_CHARACTERS = 256 * 1_024;

/**
 * One step of a running batch, in one transaction: starts rows as runs in the batch's free slots, and ends the batch.
 */
@Injectable()
export class BatchStep {
  private readonly agents: readonly string[];

  constructor(
    private readonly settings: Settings,
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly runs: RunStarts,
    private readonly batches: BatchesRepository,
    private readonly rows: BatchRowsRepository,
    private readonly events: BatchEvents,
    private readonly waiting: WaitingBytes,
  ) {
    this.agents = catalog.agents.map(({ name }) => name);
  }

  /** Returns true if the next step can follow immediately. */
  async take(tx: Transaction, seq: number): Promise<boolean> {
    // Batches of other agents wait for a process that has the agent.
    const batch = await this.batches.findRunning(tx, seq, this.agents);
    if (!batch) return false;
    const startedAt = batch.started_at ?? this.clock.now();
    const free = this.shareOf(batch) - batch.running_runs;
    const { next, started, failed } = await this.startSome(tx, batch, free);
    const running = batch.running_runs + started;
    const failedItems = batch.failed_items + failed;
    await this.batches.saveProgress(tx, seq, {
      next_position: next,
      running_runs: running,
      failed_items: failedItems,
      started_at: startedAt,
    });
    this.waiting.changed(tx, waitingBytes({ ...batch, next_position: next }) - waitingBytes(batch));
    const isThrough = next === batch.total_items;
    if (isThrough && running === 0) await this.end(tx, batch, failedItems);
    await this.events.changed(tx, seq);
    return !isThrough && started < free;
  }

  /** Ends the batch as failed, instead of a step. Its running runs continue. */
  async fail(tx: Transaction, seq: number, error: string): Promise<void> {
    this.waiting.changed(tx, -waitingBytes(await this.batches.get(tx, seq)));
    await this.batches.end(tx, seq, 'failed', this.clock.now(), error);
    await this.events.changed(tx, seq);
  }

  /** Starts rows in order until `free` runs have started or a limit of the transaction is reached. */
  private async startSome(
    tx: Transaction,
    batch: RunningBatch,
    free: number,
  ): Promise<{ next: number; started: number; failed: number }> {
    const staticInputs = JSON.parse(batch.static_inputs) as JsonObject;
    let [next, started, failed, looked, size] = [batch.next_position, 0, 0, 0, 0];
    while (started < free && looked < LOOKED_AT_ONCE && size < MOST_CHARACTERS && next < batch.total_items) {
      // Almost always every row is due. Where one was not, many more may not be.
      const rows = await this.rows.from(tx, batch.seq, next, looked === 0 ? free : LOOKED_AT_ONCE);
      const due: DueRow[] = [];
      for (const row of rows) {
        if (started + due.length === free || size >= MOST_CHARACTERS) break;
        next = row.position + 1;
        looked += 1;
        if (!isDue(row, batch)) continue;
        size += row.size;
        due.push(row);
      }
      const positions = due.map(({ position }) => position);
      const inputs = await this.rows.inputsOf(tx.db, batch.seq, positions);
      const begun = await tx.each(due, (part, row) =>
        this.begin(part, batch, row, staticInputs, inputs.get(row.position)!),
      );
      due.forEach(({ copies }, index) => {
        if (begun[index]) started += 1;
        else failed += 1 + copies;
      });
    }
    return { next, started, failed };
  }

  /**
   * Returns the number of runs that the batch may have at the same time, at most `max_workers`. The batches of an agent
   * share all of its slots except one, and all batches share half of the process's slots, so that other work always
   * finds a slot.
   */
  private shareOf({ agent, max_workers, batches_of_agent: ofAgent, batches_in_all: inAll }: RunningBatch): number {
    const concurrency = this.catalog.agent(agent)?.concurrency ?? 1;
    const share = Math.min((concurrency - 1) / ofAgent, this.settings.maxConcurrentExecutions / 2 / inAll);
    return Math.min(max_workers, Math.max(1, Math.floor(share)));
  }

  /** Returns false if the row fails without a workflow. */
  private async begin(
    tx: Transaction,
    batch: BatchRow,
    row: DueRow,
    staticInputs: JsonObject,
    inputs: string,
  ): Promise<boolean> {
    const runId = newId();
    const all = (): JsonObject => ({ ...staticInputs, ...(JSON.parse(inputs) as JsonObject) });
    const item: BatchItem = { batchId: batch.id, round: batch.round, items: 1 + row.copies };
    await this.rows.rememberRun(tx, batch.seq, row.position, runId);
    const problem = row.problem ?? (await this.tryToBegin(tx, batch.agent, all(), runId, item));
    if (problem === null) return true;
    await this.runs.failItem(tx, batch.agent, runId, problem, item);
    return false;
  }

  private async tryToBegin(
    tx: Transaction,
    agent: string,
    inputs: JsonObject,
    runId: string,
    item: BatchItem,
  ): Promise<string | null> {
    try {
      await this.runs.startItem(tx, agent, inputs, runId, item);
      return null;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'invalid') return error.message;
      throw error;
    }
  }

  private async end(
    tx: Transaction,
    { seq, total_items: total, was_cancelled }: BatchRow,
    failed: number,
  ): Promise<void> {
    const now = this.clock.now();
    if (failed === total) await this.batches.end(tx, seq, 'failed', now, 'every item failed');
    // A batch that was cancelled before a retry stays cancelled, because rows that were never started still have no
    // run.
    else await this.batches.end(tx, seq, was_cancelled === 1 ? 'cancelled' : 'completed', now, null);
  }
}

/**
 * Whether a row must be started. The first round starts every row, a later round those whose run failed before it. Rows
 * that repeat another one are never started.
 */
const isDue = ({ repeats, run_status, run_round }: DueRow, { round }: BatchRow): boolean => {
  if (repeats !== null) return false;
  return round === 0 ? run_status === null : run_status === 'failed' && run_round! < round;
};
