import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/unit-of-work.js';
import type { Notice } from './notice.js';
import { Signals } from './signals.js';
import { StreamInterest } from './stream-interest.js';

/** Hands notices to the streams that ask for them, here and in other processes. */
@Injectable()
export class Notices {
  constructor(
    private readonly signals: Signals,
    private readonly interest: StreamInterest,
  ) {}

  /** Whether any stream asks for notices; to be asked before one is made. */
  get areWanted(): boolean {
    return this.signals.notice.isHeard || this.interest.isElsewhereForNotices;
  }

  /** Tells once the transaction is committed. */
  tellAfter(tx: Transaction, notice: Notice): void {
    tx.afterCommit(() => this.tell(notice));
  }

  tell(notice: Notice): void {
    this.signals.notice.publish(notice);
    if (this.interest.isElsewhereForNotices) this.signals.notice.publishElsewhere(notice);
  }
}
