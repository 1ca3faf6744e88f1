/** Whether this process is on its way out. The entry calls `stop()` before it closes the application. */
export class Lifecycle {
  private readonly callbacks: (() => void)[] = [];
  private stopped = false;

  /** True from the first `stop()` on: no new work is taken, and readiness turns 503. */
  get stopping(): boolean {
    return this.stopped;
  }

  /** Calls every callback, once; later calls do nothing. */
  stop(): void {
    if (this.stopped) return;
    this.stopped = true;
    for (const callback of this.callbacks) callback();
  }

  /** `callback` must not throw. It is called at once where the process is stopping already. */
  onStop(callback: () => void): void {
    if (this.stopped) callback();
    else this.callbacks.push(callback);
  }
}
