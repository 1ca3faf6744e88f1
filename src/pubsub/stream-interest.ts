import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Signals } from './signals.js';

const ANNOUNCE_EVERY_MS = 5_000;
const HOLDS_MS = 3 * ANNOUNCE_EVERY_MS;

/**
 * Whether streams are open in other processes: while there are none, nothing is sent for them. Those that have some say so every few
 * seconds, by the machine's time. What is missed until then, streams find by looking; live events are lost.
 */
@Injectable()
export class StreamInterest {
  private here = { streams: 0, withLive: 0 };
  private elsewhereUntil = -Infinity;
  private liveElsewhereUntil = -Infinity;

  constructor(private readonly signals: Signals) {
    signals.streamsOpen.subscribe(({ live }) => this.heard(live));
    // Nothing can be sent while something is being received.
    signals.whoHasStreams.subscribe(() => void setImmediate(() => this.announce()));
    signals.resync.subscribe(() => {
      this.announce();
      signals.whoHasStreams.publishElsewhere(null);
    });
  }

  /** Another process has streams open. */
  get isElsewhere(): boolean {
    return performance.now() < this.elsewhereUntil;
  }

  /** And some of them ask for live events. */
  get wantsLiveElsewhere(): boolean {
    return performance.now() < this.liveElsewhereUntil;
  }

  /** A stream was opened here; the returned function is to be called once, when it ends. */
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
    this.elsewhereUntil = performance.now() + HOLDS_MS;
    if (live) this.liveElsewhereUntil = this.elsewhereUntil;
  }
}
