/** Whether this process is stopping. The entry point calls `stop()` before it closes the application. */
export class Lifecycle {
  private readonly callbacks: (() => void)[] = [];
  private stopped = false;

  /** True after the first `stop()`: the process takes no new work, and readiness answers 503. */
  get stopping(): boolean {
    return this.stopped;
  }

  /** Calls every callback, once; later calls do nothing. */
  stop(): void {
    if (this.stopped) return;
    this.stopped = true;
    for (const callback of this.callbacks) callback();
  }

  /** `callback` must not throw. It is called immediately if the process is already stopping. */
  onStop(callback: () => void): void {
    if (this.stopped) callback();
    else this.callbacks.push(callback);
  }
}
