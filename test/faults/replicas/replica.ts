import { eventually } from '../../support/eventually.js';
import { Service } from '../../support/service.js';

/** What a log must not have, whatever happens to the database: none of it says that the database is away. */
const BUG =
  /unexpected error|uncaught exception|unhandled rejection|could not be committed|could not be stored|effect after a transaction/;

/** One of several services on one database, started again with the same flags wherever it was killed. */
export class Replica {
  private service: Service | null = null;
  private isStopped = false;
  private isRetired = false;
  private readonly earlierLogs: string[] = [];
  /** Ends of the process that nobody here asked for. */
  readonly crashes: string[] = [];

  constructor(
    readonly name: string,
    private readonly args: string[],
    /** A command that runs it, where it is to run elsewhere. */
    private readonly within: readonly string[] = [],
  ) {}

  /** To be asked: it runs, and is not stopped. */
  get isUp(): boolean {
    return this.service !== null && !this.service.hasEnded && !this.isStopped;
  }

  get url(): string {
    return this.service!.url;
  }

  get pid(): number {
    return this.service!.process.pid!;
  }

  /** Started again until it holds, as an orchestrator does: one that meets no database at its start ends. */
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

  /** For good: whoever would start it again, as a fault that is not over, does nothing from now on. */
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

  /** In an orderly way. */
  async end(): Promise<number | null> {
    const { service } = this;
    if (!service) return null;
    this.forget();
    return service.kill('SIGTERM');
  }

  /** Lines of its log, those of its earlier lives too, that a fault of the database or of another replica does not explain. */
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
