import type { Cancel, Clock } from './clock.js';
import type { Logger } from './logger.js';

export interface LoopOptions {
  clock: Clock;
  logger: Logger;
  /** Says in the log line of a failed pass which work could not be done. */
  failure: string;
  /** Pause after a pass that failed (ms). Without it, the loop waits until it is woken again. */
  backOffMs?: number;
}

/**
 * Background work in passes, one at a time. A pass begins when the loop is woken, at the time that the previous pass
 * has named, or after a pause if the previous one failed.
 */
export class BackgroundLoop {
  private running: Promise<void> | null = null;
  private dueAt = Infinity;
  private cancel: Cancel = () => undefined;
  private isStopped = false;

  /**
   * `pass` checks `stopped` before each of its steps. It resolves with the time of the next pass (epoch ms), or with
   * nothing if the loop waits until it is woken.
   */
  constructor(
    private readonly pass: () => Promise<number | null | void>,
    private readonly options: LoopOptions,
  ) {}

  get stopped(): boolean {
    return this.isStopped;
  }

  /** Whether the time of the next pass has come, and no timer of the machine has noticed it. */
  get isOverdue(): boolean {
    return !this.running && this.dueAt <= this.options.clock.now();
  }

  /**
   * A pass is due at `time` (epoch ms), or now. If a pass is running at that time, another one follows it, because the
   * running one may no longer see what this wake-up is about.
   */
  wake(time = this.options.clock.now()): void {
    if (this.isStopped || time >= this.dueAt) return;
    this.cancel();
    this.dueAt = time;
    if (!this.running) this.arm();
  }

  /** Begins a pass, or joins the one that is running. Resolves when it has ended. Never rejects. */
  run(): Promise<void> {
    if (this.running) return this.running;
    if (this.isStopped) return Promise.resolve();
    this.cancel();
    this.dueAt = Infinity;
    this.running = this.runPass().finally(() => {
      this.running = null;
      this.arm();
    });
    return this.running;
  }

  /** Resolves after a pass. If one runs already, which may have missed the latest changes, another one follows it. */
  runAgain(): Promise<void> {
    this.wake();
    return this.run();
  }

  /** Begins no further pass. Resolves when the running one has ended, which it does after its current step. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.cancel();
    await this.running;
  }

  private arm(): void {
    if (this.isStopped || this.dueAt === Infinity) return;
    if (this.dueAt <= this.options.clock.now()) void this.run();
    else this.cancel = this.options.clock.at(this.dueAt, () => void this.run());
  }

  private async runPass(): Promise<void> {
    const { clock, logger, failure, backOffMs } = this.options;
    try {
      const next = await this.pass();
      if (typeof next === 'number') this.wake(next);
    } catch (error) {
      logger.warn({ err: error }, `${failure}; trying again`);
      if (backOffMs !== undefined) this.wake(clock.now() + backOffMs);
    }
  }
}
