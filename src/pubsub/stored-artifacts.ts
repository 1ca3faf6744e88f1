import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/unit-of-work.js';
import { Signals } from './signals.js';
import { StreamInterest } from './stream-interest.js';

const TELL_OTHERS_EVERY_MS = 20;

/** Wakes those who read the changelog, where there are any: here at once, elsewhere a few dozen times a second at most. */
@Injectable()
export class StoredArtifacts {
  private untold = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly signals: Signals,
    private readonly interest: StreamInterest,
  ) {}

  /** An artifact gets this position if the transaction commits. */
  stored(tx: Transaction, seq: number): void {
    if (this.signals.artifactStored.isHeard || this.interest.isElsewhere) tx.afterCommit(() => this.tell(seq));
  }

  private tell(seq: number): void {
    this.signals.artifactStored.publish(seq);
    if (!this.interest.isElsewhere) return;
    this.untold = Math.max(this.untold, seq);
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.signals.artifactStored.publishElsewhere(this.untold);
    }, TELL_OTHERS_EVERY_MS).unref();
  }
}
