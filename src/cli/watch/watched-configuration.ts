import { readFile } from 'node:fs/promises';

import { Child } from './child.js';
import { FileChanges } from './file-changes.js';
import type { CheckOrder } from './orders.js';

/** A module with an endless loop outside of its functions keeps a check from ending. */
const LONGEST_CHECK_MS = 60_000;

/** Checks a configuration in a new process each time, and follows the files that it depends on. */
export class WatchedConfiguration {
  private readonly changes = new FileChanges();
  private checking: Child | null = null;

  constructor(private readonly order: Omit<CheckOrder, 'does' | 'text'>) {}

  /** Prints what is wrong with the configuration. Returns the text of the file that was checked; null if there are errors. */
  async check(): Promise<string | null> {
    await this.changes.follow(this.order.config);
    // A missing file is an error of the check.
    const text = await readFile(this.order.config, 'utf8').catch(() => undefined);
    // Followed from the moment at which they are found, because they may change before the check ends.
    const following: Promise<void>[] = [];
    const checking = new Child({ ...this.order, does: 'check', text }, (answer) => {
      if (typeof answer === 'object') following.push(this.changes.follow(answer.file));
    });
    this.checking = checking;
    const code = await checking.endsWithin(LONGEST_CHECK_MS);
    if (code === null)
      console.error(
        `the check has not ended after ${LONGEST_CHECK_MS / 1000} s, because a module loops while it is loaded`,
      );
    this.checking = null;
    await Promise.all(following);
    return code === 0 && text !== undefined ? text : null;
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
