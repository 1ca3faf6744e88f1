import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { scheduler } from '../common/scheduler.js';
import { Signals } from './signals.js';

const ANNOUNCE_EVERY_MS = 5_000;
const HOLDS_MS = 3 * ANNOUNCE_EVERY_MS;

/**
 * Knows whether other processes have open streams. While they have none, nothing is sent for them. A process with open
 * streams announces them every few seconds of machine time. Until then, streams find missed artifacts by reading the
 * database, but live events are lost.
 */
@Injectable()
export class StreamInterest {
  private here = { streams: 0, withLive: 0 };
  private elsewhereUntil = -Infinity;
  private liveElsewhereUntil = -Infinity;

  constructor(private readonly signals: Signals) {
    signals.streamsOpen.subscribe(({ live }) => this.heard(live));
    // Deferred, because nothing can be sent while a signal is being received.
    signals.whoHasStreams.subscribe(() => scheduler.later(() => this.announce()));
    signals.resync.subscribe(() => {
      this.announce();
      signals.whoHasStreams.publishElsewhere(null);
    });
  }

  /** True if another process has open streams. */
  get isElsewhere(): boolean {
    return scheduler.elapsed() < this.elsewhereUntil;
  }

  /** True if some of them want live events. */
  get wantsLiveElsewhere(): boolean {
    return scheduler.elapsed() < this.liveElsewhereUntil;
  }

  /** Registers a stream of this process. Call the returned function once, when the stream ends. */
  add(withLive: boolean): () => void {
    const { here } = this;
    const isFirst = here.streams === 0 || (withLive && here.withLive === 0);
    here.streams += 1;
    here.withLive += Number(withLive);
    if (isFirst) this.announce();
    return () => {
      here.streams -= 1;
      here.withLive -= Number(withLive);
    };
  }

  @Interval(ANNOUNCE_EVERY_MS)
  announce(): void {
    if (this.here.streams > 0) this.signals.streamsOpen.publishElsewhere({ live: this.here.withLive > 0 });
  }

  private heard(live: boolean): void {
    this.elsewhereUntil = scheduler.elapsed() + HOLDS_MS;
    if (live) this.liveElsewhereUntil = this.elsewhereUntil;
  }
}
