import { Injectable, type OnModuleInit } from '@nestjs/common';

import { RunEndings } from '../runs/run-endings.js';
import { BatchDispatcher } from './batch-dispatcher.js';
import { BatchEvents } from './batch-events.js';
import { BatchesRepository } from './batches.repository.js';

/** Counts the end of a run in its batch, in the transaction that ends the run, and lets the batch continue. */
@Injectable()
export class BatchRunEndings implements OnModuleInit {
  constructor(
    private readonly endings: RunEndings,
    private readonly batches: BatchesRepository,
    private readonly events: BatchEvents,
    private readonly dispatcher: BatchDispatcher,
  ) {}

  onModuleInit(): void {
    this.endings.add(async (tx, run, _now, used) => {
      if (run.batch_id === null) return;
      const { status, batch_items: items } = run;
      const seq = await this.batches.countEnded(tx, run.batch_id, {
        succeeded: status === 'completed' ? items : 0,
        failed: status === 'failed' ? items : 0,
        inputTokens: used.input_tokens,
        outputTokens: used.output_tokens,
        cost: used.cost,
      });
      if (seq === undefined) return;
      tx.whenVisible(() => this.dispatcher.wake(seq));
      await this.events.changed(tx, seq);
    });
  }
}
