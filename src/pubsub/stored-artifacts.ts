import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/unit-of-work.js';
import { Signals } from './signals.js';
import { StreamInterest } from './stream-interest.js';

const SEND_EVERY_MS = 20;

/** Wakes those who read the changelog, where there are any: here at once, elsewhere a few dozen times a second at most. */
@Injectable()
export class StoredArtifacts {
  private unsent = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly signals: Signals,
    private readonly interest: StreamInterest,
  ) {}

  /** An artifact gets this position if the transaction commits. */
  stored(tx: Transaction, seq: number): void {
    if (this.signals.artifactStored.isHeard || this.interest.isElsewhere) tx.afterCommit(() => this.emit(seq));
  }

  private emit(seq: number): void {
    this.signals.artifactStored.publish(seq);
    if (!this.interest.isElsewhere) return;
    this.unsent = Math.max(this.unsent, seq);
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.signals.artifactStored.publishElsewhere(this.unsent);
    }, SEND_EVERY_MS).unref();
  }
}
