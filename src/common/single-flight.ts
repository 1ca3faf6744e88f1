/** Background work that ticks ask for: never twice at once, and stopped only between its steps. */
export class SingleFlight {
  private running: Promise<void> | null = null;
  private isStopped = false;

  /** `work` asks `stopped` before each of its steps, and handles its own errors. */
  constructor(private readonly work: () => Promise<void>) {}

  get stopped(): boolean {
    return this.isStopped;
  }

  /** Returns when the work that is under way, or else is begun, has ended. */
  run(): Promise<void> {
    this.running ??= this.work().finally(() => (this.running = null));
    return this.running;
  }

  /** Returns when the step in hand has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
  }
}
