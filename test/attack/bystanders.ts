import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { eventually } from '../support/eventually.js';
import type { Command, Reply } from './bystanders-process.js';
import { deniedMs } from './denied-time.js';

/** Honest clients of a service, and a health probe, in a separate process. */
export class Bystanders {
  private readonly child: ChildProcess;

  /** `pid` is the service's process. */
  constructor(
    url: string,
    private readonly pid: number,
  ) {
    this.child = fork(join(import.meta.dirname, 'bystanders-process.ts'), [url, String(pid)], { execArgv: [] });
  }

  /** Resolves when the first request is answered. From then on the clients work at their rate. */
  async working(): Promise<this> {
    await eventually('honest clients are served', async () => (await this.served()) > 0);
    return this;
  }

  /**
   * Counts the requests of honest clients that are answered while `work` runs, per second in which the machine gave the
   * service all the CPU time that it asked for.
   */
  async rateDuring(work: () => Promise<unknown>): Promise<number> {
    const before = await this.served();
    const [began, deniedBefore] = [performance.now(), deniedMs(this.pid)];
    await work();
    const granted = Math.max(performance.now() - began - (deniedMs(this.pid) - deniedBefore), 1);
    return (((await this.served()) - before) / granted) * 1_000;
  }

  /** The failures that the clients and the probe have seen. */
  end(): Promise<Extract<Reply, { failures: string[] }>> {
    return this.ask('end') as Promise<Extract<Reply, { failures: string[] }>>;
  }

  private async served(): Promise<number> {
    return ((await this.ask('count')) as { served: number }).served;
  }

  private async ask(command: Command): Promise<Reply> {
    const answer = once(this.child, 'message') as Promise<[Reply]>;
    this.child.send(command);
    return (await answer)[0];
  }
}
