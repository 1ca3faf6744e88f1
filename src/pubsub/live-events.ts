import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/unit-of-work.js';
import type { LiveEvent } from './live-event.js';
import { Signals } from './signals.js';
import { StreamInterest } from './stream-interest.js';

/** Hands live events to the streams that ask for them, here and in other processes. */
@Injectable()
export class LiveEvents {
  constructor(
    private readonly signals: Signals,
    private readonly interest: StreamInterest,
  ) {}

  /** Whether any stream asks for live events; to be asked before one is made. */
  get areWanted(): boolean {
    return this.signals.liveEvent.isHeard || this.interest.wantsLiveElsewhere;
  }

  /** Emits it once the transaction is committed. */
  emitAfterCommit(tx: Transaction, event: LiveEvent): void {
    tx.afterCommit(() => this.emit(event));
  }

  emit(event: LiveEvent): void {
    this.signals.liveEvent.publish(event);
    if (this.interest.wantsLiveElsewhere) this.signals.liveEvent.publishElsewhere(event);
  }
}
