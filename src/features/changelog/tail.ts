import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { ChangelogStore } from '../../blackboard/queries/changelog-store.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { type Cancel, laterTurn, scheduler } from '../../common/scheduler.js';
import { Signals } from '../../pubsub/signals.js';
import { type EntryBatch, inBatches } from './entry.js';

/** Minimum pause between two reads, in real time. Artifacts that are published meanwhile are read together. */
const PAUSE_MS = 20;
const LOOK_AGAIN_MS = 1_000;

export interface TailListener {
  deliver(batch: EntryBatch): void;
}

/**
 * Reads the end of the changelog once for all streams of this process. While there are streams, it reads on from its
 * position, and delivers each entry to all streams that have reached it.
 */
@Injectable()
export class Tail {
  private readonly listeners = new Set<TailListener>();
  private users = 0;
  private started: Promise<void> | null = null;
  private unsubscribe: (() => void)[] = [];
  private reached = 0;
  /** The highest position that a signal has reported. */
  private announced = 0;
  private reading: Promise<void> | null = null;
  private queued: Promise<void> | null = null;
  /**
   * Callers of `handedOut`. `upTo` is the last position that was stored when they called; null until the next read
   * finds it.
   */
  private waiting: { upTo: number | null; resolve: () => void }[] = [];
  private lookedAt = -Infinity;
  private timer: Cancel | null = null;
  private isInTrouble = false;

  constructor(
    private readonly store: ChangelogStore,
    private readonly signals: Signals,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** The position of the last delivered artifact, or the position after which the tail began. */
  get position(): number {
    return this.reached;
  }

  /** Starts the tail with the first user. It stops when every user has left. */
  async enter(): Promise<void> {
    this.users += 1;
    try {
      await (this.started ??= this.start());
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  leave(): void {
    this.users -= 1;
    if (this.users === 0) this.stop();
  }

  /** Adds a listener, which gets everything after `position`. */
  follow(listener: TailListener): void {
    this.listeners.add(listener);
  }

  unfollow(listener: TailListener): void {
    this.listeners.delete(listener);
  }

  /** Resolves when all entries that were final at the time of the call are delivered. */
  look(): Promise<void> {
    if (!this.reading) {
      this.reading = this.readOn().finally(() => {
        this.reading = null;
        this.lookedAt = scheduler.elapsed();
      });
      return this.reading;
    }
    // The running read may have begun before the call.
    this.queued ??= this.reading.then(() => {
      this.queued = null;
      return this.look();
    });
    return this.queued;
  }

  /**
   * Resolves when all entries that any process had stored at the time of the call are delivered, or when the tail
   * stops. On Postgres it waits until earlier transactions have ended.
   */
  handedOut(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push({ upTo: null, resolve });
      this.wake(0);
    });
  }

  /** Reads without a signal, because signals of other processes may be lost. */
  @Interval(LOOK_AGAIN_MS)
  async lookAgain(): Promise<void> {
    if (this.users > 0) await this.look();
  }

  private async start(): Promise<void> {
    this.unsubscribe = [
      this.signals.artifactStored.subscribe((seq) => this.wake(seq)),
      this.signals.resync.subscribe(() => this.lookIn(0)),
    ];
    this.reached = await this.store.end();
  }

  private stop(): void {
    this.unsubscribe.splice(0).forEach((unsubscribe) => unsubscribe());
    this.timer?.();
    this.timer = null;
    this.started = null;
    this.announced = 0;
    this.waiting.splice(0).forEach(({ resolve }) => resolve());
  }

  private wake(seq: number): void {
    this.announced = Math.max(this.announced, seq);
    this.lookIn(Math.max(0, this.lookedAt + PAUSE_MS - scheduler.elapsed()));
  }

  private lookIn(ms: number): void {
    this.timer ??= scheduler.after(ms, () => {
      this.timer = null;
      void this.look();
    });
  }

  private async readOn(): Promise<void> {
    try {
      const { started } = this;
      await started;
      await this.findWhereAllIs();
      let found = await this.store.after(this.reached);
      for (;;) {
        for (const batch of inBatches(found.rows)) {
          if (started !== this.started) return;
          this.reached = batch.lastSeq;
          this.listeners.forEach((listener) => listener.deliver(batch));
          // Written bytes are sent after this turn of the event loop, and other work can run.
          await laterTurn();
        }
        if (found.isAll) break;
        found = await this.store.after(this.reached);
      }
      if (started !== this.started) return;
      this.answerUpTo(found.final);
      // On Postgres the final position is a few milliseconds behind the commits.
      if (found.final < this.announced || this.waiting.length > 0) this.lookIn(PAUSE_MS / 2);
      this.isInTrouble = false;
    } catch (error) {
      if (!this.isInTrouble) this.logger.warn({ err: error }, 'the changelog could not be read; trying again');
      this.isInTrouble = true;
    }
  }

  private async findWhereAllIs(): Promise<void> {
    const asking = this.waiting.filter(({ upTo }) => upTo === null);
    if (asking.length === 0) return;
    const last = await this.store.lastGiven();
    for (const each of asking) each.upTo = last;
  }

  private answerUpTo(final: number): void {
    const isDone = ({ upTo }: { upTo: number | null }): boolean => upTo !== null && upTo <= final;
    const done = this.waiting.filter(isDone);
    this.waiting = this.waiting.filter((each) => !isDone(each));
    done.forEach(({ resolve }) => resolve());
  }
}
