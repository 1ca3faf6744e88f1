import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { BackgroundLoop } from '../../common/background-loop.js';
import { Clock } from '../../common/clock.js';
import { isUnavailable } from '../../common/domain-error.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Role } from '../../common/role.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { BatchStep } from './batch-step.js';
import { BatchesRepository } from './batches.repository.js';

const LOOK_AGAIN_MS = 5_000;
const MOST_FAILURES = 10;

/**
 * Advances running batches whenever one of their runs has ended. A wake-up can be lost with its process, so all
 * batches are also checked at the start and every few seconds. Only the database knows what remains to be done.
 */
@Injectable()
export class BatchDispatcher implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly pendingSeqs = new Set<number>();
  /** Number of successive failures of each batch. */
  private readonly failures = new Map<number, number>();
  private working = false;
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly role: Role,
    private readonly unitOfWork: UnitOfWork,
    private readonly batches: BatchesRepository,
    private readonly step: BatchStep,
    private readonly signals: Signals,
    clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.loop = new BackgroundLoop(() => this.move(), { clock, logger, failure: 'batches could not be advanced' });
  }

  async onApplicationBootstrap(): Promise<void> {
    this.working = this.role.worker;
    if (this.working) this.signals.batchReady.subscribe((seq) => this.wake(seq));
    await this.lookAtAll();
  }

  /** Begins no further step, and resolves when the running one has ended. */
  async beforeApplicationShutdown(): Promise<void> {
    this.working = false;
    await this.loop.stop();
  }

  /** Schedules a step of the batch. */
  wake(seq: number): void {
    // Before its start this process can skip it, because the start checks all batches.
    if (!this.working) return this.signals.batchReady.publishElsewhere(seq);
    this.pendingSeqs.add(seq);
    this.loop.wake();
  }

  @Interval(LOOK_AGAIN_MS)
  async lookAtAll(): Promise<void> {
    if (!this.working) return;
    try {
      for (const seq of await this.batches.running(this.unitOfWork.reader)) this.wake(seq);
    } catch (error) {
      this.logger.warn({ err: error }, 'running batches could not be looked up; trying again');
    }
  }

  private async move(): Promise<void> {
    const seqs = [...this.pendingSeqs];
    this.pendingSeqs.clear();
    await Promise.all(seqs.map((seq) => this.moveOne(seq)));
  }

  private async moveOne(seq: number): Promise<void> {
    try {
      if (await this.unitOfWork.run((tx) => this.step.take(tx, seq))) this.wake(seq);
      this.failures.delete(seq);
    } catch (error) {
      this.logger.error({ err: error, batch: seq }, 'a step of a batch failed');
      if (!isUnavailable(error)) await this.countFailure(seq);
    }
  }

  // Without a limit, a batch that always fails would be retried and logged forever.
  private async countFailure(seq: number): Promise<void> {
    const failures = (this.failures.get(seq) ?? 0) + 1;
    this.failures.set(seq, failures);
    if (failures < MOST_FAILURES) return;
    this.failures.delete(seq);
    await this.unitOfWork.run((tx) =>
      this.step.fail(tx, seq, "an internal error stopped the batch; see the service's log"),
    );
  }
}
