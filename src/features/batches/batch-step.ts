import { Injectable } from '@nestjs/common';
import { Catalog } from '../../catalog/catalog.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { newId } from '../../common/ids.js';
import type { JsonObject } from '../../common/json.js';
import { Settings } from '../../config/settings.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { type BatchItem, RunsService } from '../runs/runs.service.js';
import type { BatchRow } from './batch.js';
import { BatchEvents } from './batch-events.js';
import { BatchesRepository, type DueRow, type RunningBatch } from './batches.repository.js';
import { WaitingBytes, waitingBytes } from './waiting-bytes.js';

/** What one transaction looks at, and starts: it holds up every other writer. */
const LOOKED_AT_ONCE = 200;
const MOST_CHARACTERS = 256 * 1_024;

/** One step of a running batch, as one transaction: rows become runs as its share of the workers is free, and it ends. */
@Injectable()
export class BatchStep {
  private readonly agents: readonly string[];

  constructor(
    private readonly settings: Settings,
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly runs: RunsService,
    private readonly batches: BatchesRepository,
    private readonly events: BatchEvents,
    private readonly waiting: WaitingBytes,
  ) {
    this.agents = catalog.agents.map(({ name }) => name);
  }

  /** True where there is more to do at once. */
  async take(tx: Transaction, seq: number): Promise<boolean> {
    // One of another agent waits for a process that has it.
    const batch = await this.batches.findRunning(tx, seq, this.agents);
    if (!batch) return false;
    const free = this.shareOf(batch) - batch.running_runs;
    const { next, started, failed } = await this.startSome(tx, batch, free);
    const now = this.clock.now();
    const running = batch.running_runs + started;
    const failedItems = batch.failed_items + failed;
    await this.batches.saveProgress(tx, seq, { next_position: next, running_runs: running, failed_items: failedItems, started_at: batch.started_at ?? now });
    this.waiting.changed(tx, waitingBytes({ ...batch, next_position: next }) - waitingBytes(batch));
    const isThrough = next === batch.total_items;
    if (isThrough && running === 0) await this.end(tx, batch, failedItems, now);
    await this.events.changed(tx, seq);
    return !isThrough && started < free;
  }

  /** Goes along the rows until `free` were started, or one transaction has had enough. */
  private async startSome(tx: Transaction, batch: RunningBatch, free: number): Promise<{ next: number; started: number; failed: number }> {
    const staticInputs = JSON.parse(batch.static_inputs) as JsonObject;
    let [next, started, failed, looked, size] = [batch.next_position, 0, 0, 0, 0];
    while (started < free && looked < LOOKED_AT_ONCE && size < MOST_CHARACTERS && next < batch.total_items) {
      // Nearly always every row is due; where one was not, many more may not be.
      const rows = await this.batches.rowsFrom(tx, batch.seq, next, looked === 0 ? free : LOOKED_AT_ONCE);
      for (const row of rows) {
        if (started === free || size >= MOST_CHARACTERS) break;
        next = row.position + 1;
        looked += 1;
        if (!isDue(row, batch)) continue;
        size += row.size;
        if (await this.begin(tx, batch, row, staticInputs)) started += 1;
        else failed += 1 + row.copies;
      }
    }
    return { next, started, failed };
  }

  /**
   * At most `max_workers` at a time. The batches of an agent share its slots but one, and all batches half of the process's,
   * so that other work finds a slot beside them however many rows there are.
   */
  private shareOf({ agent, max_workers, batches_of_agent: ofAgent, batches_in_all: inAll }: RunningBatch): number {
    const concurrency = this.catalog.agent(agent)?.concurrency ?? 1;
    const share = Math.min((concurrency - 1) / ofAgent, this.settings.maxConcurrentExecutions / 2 / inAll);
    return Math.min(max_workers, Math.max(1, Math.floor(share)));
  }

  /** False where the row fails at once, without a workflow. */
  private async begin(tx: Transaction, batch: BatchRow, row: DueRow, staticInputs: JsonObject): Promise<boolean> {
    const runId = newId();
    const item: BatchItem = { batchId: batch.id, round: batch.round, items: 1 + row.copies };
    await this.batches.rememberRun(tx, batch.seq, row.position, runId);
    const problem = row.problem ?? (await this.tryToBegin(tx, batch, row, staticInputs, runId, item));
    if (problem === null) return true;
    await this.runs.failItem(tx, batch.agent, runId, problem, item);
    return false;
  }

  private async tryToBegin(
    tx: Transaction,
    { seq, agent }: BatchRow,
    { position }: DueRow,
    staticInputs: JsonObject,
    runId: string,
    item: BatchItem,
  ): Promise<string | null> {
    try {
      const own = JSON.parse(await this.batches.inputsOf(tx, seq, position)) as JsonObject;
      await this.runs.begin(tx, agent, { ...staticInputs, ...own }, runId, item);
      return null;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'invalid') return error.message;
      throw error;
    }
  }

  private async end(tx: Transaction, { seq, total_items: total, was_cancelled }: BatchRow, failed: number, now: number): Promise<void> {
    if (failed === total) await this.batches.end(tx, seq, 'failed', now, 'every item failed');
    // After a retry: rows that the cancelling kept from running have still not run.
    else await this.batches.end(tx, seq, was_cancelled === 1 ? 'cancelled' : 'completed', now, null);
  }
}

/** The first round starts every row; a later one those whose run failed before it. One that repeats another never runs itself. */
const isDue = ({ repeats, run_status, run_round }: DueRow, { round }: BatchRow): boolean => {
  if (repeats !== null) return false;
  return round === 0 ? run_status === null : run_status === 'failed' && run_round! < round;
};
