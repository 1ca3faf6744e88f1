import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { eventually } from '../support/eventually.js';
import type { Command, Reply } from './bystanders-process.js';
import { deniedMs } from './denied-time.js';

/** Honest clients of a service, and one that probes its health, in a process of their own. */
export class Bystanders {
  private readonly child: ChildProcess;

  /** `pid`: of the service's process. */
  constructor(
    url: string,
    private readonly pid: number,
  ) {
    this.child = fork(join(import.meta.dirname, 'bystanders-process.ts'), [url, String(pid)], { execArgv: [] });
  }

  /** Resolves when the first request is answered: from then on the clients work at their pace. */
  async working(): Promise<this> {
    await eventually('honest clients are served', async () => (await this.served()) > 0);
    return this;
  }

  /** How many requests of honest clients are answered while `work` lasts, in a second in which the machine gave the service all that it asked for. */
  async rateDuring(work: () => Promise<unknown>): Promise<number> {
    const before = await this.served();
    const [began, deniedBefore] = [performance.now(), deniedMs(this.pid)];
    await work();
    const granted = Math.max(performance.now() - began - (deniedMs(this.pid) - deniedBefore), 1);
    return (((await this.served()) - before) / granted) * 1_000;
  }

  /** What they have to complain of. */
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
