import { eventually } from '../../support/eventually.js';
import { Service } from '../../support/service.js';

/** Log entries that no failure of the database explains: none of them says that the database is away. */
const BUG =
  /unexpected error|uncaught exception|unhandled rejection|could not be committed|could not be stored|effect after a transaction/;

/** One of several services on one database, started again with the same flags after a kill. */
export class Replica {
  private service: Service | null = null;
  private isStopped = false;
  private isRetired = false;
  private readonly earlierLogs: string[] = [];
  /** Exits of the process that the test did not cause. */
  readonly crashes: string[] = [];

  constructor(
    readonly name: string,
    private readonly args: string[],
    /** A command that runs it elsewhere, such as in a namespace. */
    private readonly within: readonly string[] = [],
  ) {}

  /** True while it runs and is not stopped, so that clients may ask it. */
  get isUp(): boolean {
    return this.service !== null && !this.service.hasEnded && !this.isStopped;
  }

  get url(): string {
    return this.service!.url;
  }

  get pid(): number {
    return this.service!.process.pid!;
  }

  /** Starts it until it stays up, as an orchestrator does: it exits if it finds no database at its start. */
  async start(): Promise<void> {
    await eventually(`${this.name} is ready`, () => this.startOnce());
  }

  private async startOnce(): Promise<boolean> {
    if (this.isRetired) return true;
    const service = await Service.start(this.args, {}, this.within);
    this.service = service;
    service.process.once('exit', (code, signal) => {
      if (this.service === service)
        this.crashes.push(`${this.name} ended by itself (${code ?? signal}):\n${service.log.slice(-10).join('\n')}`);
    });
    if (this.isRetired) await this.kill();
    return true;
  }

  async kill(): Promise<void> {
    const { service } = this;
    if (!service) return;
    this.forget();
    await service.kill('SIGKILL');
  }

  /** Kills it for good: a fault that is not over cannot start it again. */
  async retire(): Promise<void> {
    this.isRetired = true;
    await this.kill();
  }

  stop(): void {
    this.isStopped = true;
    this.service?.process.kill('SIGSTOP');
  }

  resume(): void {
    this.isStopped = false;
    this.service?.process.kill('SIGCONT');
  }

  /** Stops it with SIGTERM. */
  async end(): Promise<number | null> {
    const { service } = this;
    if (!service) return null;
    this.forget();
    return service.kill('SIGTERM');
  }

  /**
   * Returns the lines of its logs, including earlier lives, that no fault of the database or of another replica
   * explains.
   */
  bugs(): string[] {
    return [...this.earlierLogs, ...(this.service?.log ?? [])]
      .filter((line) => BUG.test(line))
      .map((line) => `${this.name}: ${line.slice(0, 2_000)}`);
  }

  private forget(): void {
    this.earlierLogs.push(...(this.service?.log ?? []));
    this.service = null;
    this.isStopped = false;
  }
}
