import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { findState, findStates } from './correlation-rows.js';

const LOOK_AGAIN_MS = 1_000;

class Waiter {
  /** The newest generation that has settled, as far as signals say. */
  private settledGeneration = 0;
  private awaited: { generation: number; wake: (settled: boolean) => void } | null = null;

  hasSettled(generation: number): void {
    this.settledGeneration = Math.max(this.settledGeneration, generation);
    if (this.awaited && this.awaited.generation <= generation) this.awaited.wake(true);
  }

  wake(): void {
    this.awaited?.wake(false);
  }

  /** Resolves true when this generation has settled, and false if `wake` is called before. */
  until(generation: number): Promise<boolean> {
    if (this.settledGeneration >= generation) return Promise.resolve(true);
    return new Promise((wake) => {
      this.awaited = { generation, wake };
    });
  }
}

/** Waits until this generation of the correlation has settled; see `CorrelationWaiters.wait`. */
export type Wait = (generation: number, timeoutMs: number) => Promise<boolean>;

/**
 * Requests that wait for a correlation to settle. A settlement wakes only the requests that wait for that correlation.
 */
@Injectable()
export class CorrelationWaiters {
  private released = false;
  private readonly waiters = new Map<string, Set<Waiter>>();

  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    @Inject(LOGGER) private readonly logger: Logger,
    signals: Signals,
  ) {
    signals.resync.subscribe(() => void this.lookAtAll());
    signals.correlationSettled.subscribe(({ correlationId, generation }) => this.settled(correlationId, generation));
  }

  /**
   * Resolves true when this generation of the correlation has settled, and false if `timeoutMs` pass or the process
   * stops before.
   */
  wait(correlationId: string, generation: number, timeoutMs: number): Promise<boolean> {
    return this.during(correlationId, async (wait) => {
      // The waiter is registered before this query; otherwise a settlement between the two would be missed.
      return !this.released && ((await this.hasSettled(correlationId, generation)) || wait(generation, timeoutMs));
    });
  }

  /**
   * Runs `work`, which adds work to the correlation and then waits. Settlements count from the beginning of `work`, so
   * that it need not look at the correlation before it waits.
   */
  async during<T>(correlationId: string, work: (wait: Wait) => Promise<T>): Promise<T> {
    const waiter = new Waiter();
    this.add(correlationId, waiter);
    let cancelTimeout = (): void => undefined;
    try {
      return await work((generation, timeoutMs) => {
        if (this.released) return Promise.resolve(false);
        cancelTimeout = this.clock.at(this.clock.now() + timeoutMs, () => waiter.wake());
        return waiter.until(generation);
      });
    } finally {
      cancelTimeout();
      this.remove(correlationId, waiter);
    }
  }

  /** Wakes all waiters with false, because the process stops. */
  releaseAll(): void {
    this.released = true;
    for (const waiting of this.waiters.values()) waiting.forEach((waiter) => waiter.wake());
  }

  /** The signal of a settlement in another process may be lost, so the states are also polled. */
  @Interval(LOOK_AGAIN_MS)
  async lookAtAll(): Promise<void> {
    if (!this.unitOfWork.isShared || this.waiters.size === 0) return;
    try {
      const states = await findStates(this.unitOfWork.reader, {}, [...this.waiters.keys()]);
      for (const { id, state, generation } of states)
        this.settled(id, state === 'active' ? generation - 1 : generation);
    } catch (error) {
      this.logger.warn({ err: error }, 'the states of awaited correlations could not be read; trying again');
    }
  }

  private async hasSettled(correlationId: string, generation: number): Promise<boolean> {
    const [row] = await findState(this.unitOfWork.reader, { correlationId });
    return (
      row !== undefined && (row.generation > generation || (row.generation === generation && row.state !== 'active'))
    );
  }

  private settled(correlationId: string, generation: number): void {
    this.waiters.get(correlationId)?.forEach((waiter) => waiter.hasSettled(generation));
  }

  private add(correlationId: string, waiter: Waiter): void {
    const waiting = this.waiters.get(correlationId);
    if (waiting) waiting.add(waiter);
    else this.waiters.set(correlationId, new Set([waiter]));
  }

  private remove(correlationId: string, waiter: Waiter): void {
    const waiting = this.waiters.get(correlationId);
    waiting?.delete(waiter);
    if (waiting?.size === 0) this.waiters.delete(correlationId);
  }
}
