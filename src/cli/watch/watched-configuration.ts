import { Child } from './child.js';
import { FileChanges } from './file-changes.js';
import type { CheckOrder } from './orders.js';

/** Checks a configuration in a new process each time, and follows the files that it depends on. */
export class WatchedConfiguration {
  private readonly changes = new FileChanges();
  private checking: Child | null = null;

  constructor(private readonly order: Omit<CheckOrder, 'does'>) {}

  /** Prints what is wrong with the configuration. Returns whether it has no errors. */
  async check(): Promise<boolean> {
    await this.changes.follow([this.order.config]);
    let files: string[] = [];
    this.checking = new Child({ ...this.order, does: 'check' }, (answer) => {
      if (typeof answer === 'object') ({ files } = answer);
    });
    const code = await this.checking.ended;
    this.checking = null;
    await this.changes.follow(files);
    return code === 0;
  }

  /** Resolves with the files that have changed since the last call, when they have then stayed the same for a moment. */
  changed(): Promise<string[]> {
    return this.changes.next();
  }

  /** Ends a check that is running. */
  stop(): void {
    this.checking?.kill('SIGKILL');
  }
}
