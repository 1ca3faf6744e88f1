import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Signals } from './signals.js';

const ANNOUNCE_EVERY_MS = 5_000;
const HOLDS_MS = 3 * ANNOUNCE_EVERY_MS;

/**
 * Whether streams are open in other processes: while there are none, nothing is sent for them. Those that have some say so every few
 * seconds, by the machine's time. What is missed until then, streams find by looking; notices are lost.
 */
@Injectable()
export class StreamInterest {
  private here = { streams: 0, withNotices: 0 };
  private elsewhereUntil = -Infinity;
  private noticesElsewhereUntil = -Infinity;

  constructor(private readonly signals: Signals) {
    signals.streamsOpen.subscribe(({ notices }) => this.heard(notices));
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

  /** And some of them ask for notices. */
  get isElsewhereForNotices(): boolean {
    return performance.now() < this.noticesElsewhereUntil;
  }

  /** A stream was opened here; the returned function is to be called once, when it ends. */
  add(withNotices: boolean): () => void {
    const { here } = this;
    const isFirst = here.streams === 0 || (withNotices && here.withNotices === 0);
    here.streams += 1;
    here.withNotices += Number(withNotices);
    if (isFirst) this.announce();
    return () => {
      here.streams -= 1;
      here.withNotices -= Number(withNotices);
    };
  }

  @Interval(ANNOUNCE_EVERY_MS)
  announce(): void {
    if (this.here.streams > 0) this.signals.streamsOpen.publishElsewhere({ notices: this.here.withNotices > 0 });
  }

  private heard(notices: boolean): void {
    this.elsewhereUntil = performance.now() + HOLDS_MS;
    if (notices) this.noticesElsewhereUntil = this.elsewhereUntil;
  }
}
