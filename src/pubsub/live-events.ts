import { Injectable } from '@nestjs/common';

import type { Transaction } from '../database/unit-of-work.js';
import type { LiveEvent } from './live-event.js';
import { Signals } from './signals.js';
import { StreamInterest } from './stream-interest.js';

/** Passes live events to the streams that want them, in this process and in others. */
@Injectable()
export class LiveEvents {
  constructor(
    private readonly signals: Signals,
    private readonly interest: StreamInterest,
  ) {}

  /** True if any stream wants live events. Check it before making one. */
  get areWanted(): boolean {
    return this.signals.liveEvent.isHeard || this.interest.wantsLiveElsewhere;
  }

  /** Emits the event after the transaction is committed. */
  emitAfterCommit(tx: Transaction, event: LiveEvent): void {
    tx.afterCommit(() => this.emit(event));
  }

  emit(event: LiveEvent): void {
    this.signals.liveEvent.publish(event);
    if (this.interest.wantsLiveElsewhere) this.signals.liveEvent.publishElsewhere(event);
  }
}
