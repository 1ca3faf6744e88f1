import { Injectable } from '@nestjs/common';

import { type Cancel, scheduler } from '../common/scheduler.js';
import type { Transaction } from '../database/unit-of-work.js';
import { Signals } from './signals.js';
import { StreamInterest } from './stream-interest.js';

const SEND_EVERY_MS = 20;

/** Wakes changelog readers if there are any: immediately in this process, and up to 50 times per second in others. */
@Injectable()
export class StoredArtifacts {
  private unsent = 0;
  private timer: Cancel | null = null;

  constructor(
    private readonly signals: Signals,
    private readonly interest: StreamInterest,
  ) {}

  /** Call this in the transaction that gives an artifact this position. It signals after the commit. */
  stored(tx: Transaction, seq: number): void {
    if (this.signals.artifactStored.isHeard || this.interest.isElsewhere) tx.afterCommit(() => this.emit(seq));
  }

  private emit(seq: number): void {
    this.signals.artifactStored.publish(seq);
    if (!this.interest.isElsewhere) return;
    this.unsent = Math.max(this.unsent, seq);
    this.timer ??= scheduler.after(SEND_EVERY_MS, () => {
      this.timer = null;
      this.signals.artifactStored.publishElsewhere(this.unsent);
    });
  }
}
