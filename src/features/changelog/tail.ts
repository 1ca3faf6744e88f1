import { setImmediate } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { ChangelogStore } from '../../blackboard/queries/changelog-store.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Signals } from '../../pubsub/signals.js';
import { type EntryBatch, inBatches } from './entry.js';

/** Of the machine's time. What is published meanwhile is read together. */
const PAUSE_MS = 20;
const LOOK_AGAIN_MS = 1_000;

export interface TailListener {
  deliver(batch: EntryBatch): void;
}

/**
 * The end of the changelog, read once for all streams of this process: while there are streams, it reads on from where it has come to,
 * and hands each entry to all that have reached its position.
 */
@Injectable()
export class Tail {
  private readonly listeners = new Set<TailListener>();
  private users = 0;
  private started: Promise<void> | null = null;
  private unsubscribe: (() => void)[] = [];
  private reached = 0;
  /** The position of an artifact that was announced. */
  private announced = 0;
  private reading: Promise<void> | null = null;
  private queued: Promise<void> | null = null;
  /** Who waits until all is handed out that was stored when they asked. `upTo`: the position that this was; null until the next look. */
  private waiting: { upTo: number | null; resolve: () => void }[] = [];
  private lookedAt = -Infinity;
  private timer: NodeJS.Timeout | null = null;
  private isInTrouble = false;

  constructor(
    private readonly store: ChangelogStore,
    private readonly signals: Signals,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** The position of the last artifact that was handed out, or that the reading began behind. */
  get position(): number {
    return this.reached;
  }

  /** It is read until as many have left as entered. */
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

  /** From here on, a listener gets all behind `position`. */
  follow(listener: TailListener): void {
    this.listeners.add(listener);
  }

  unfollow(listener: TailListener): void {
    this.listeners.delete(listener);
  }

  /** Resolves when everything has been handed out that was final when it was called. */
  look(): Promise<void> {
    if (!this.reading) {
      this.reading = this.readOn().finally(() => {
        this.reading = null;
        this.lookedAt = performance.now();
      });
      return this.reading;
    }
    // The one that is under way may have looked before.
    this.queued ??= this.reading.then(() => {
      this.queued = null;
      return this.look();
    });
    return this.queued;
  }

  /**
   * Resolves when everything has been handed out that was stored when it was called, by any process; also when the reading stops. On
   * Postgres that takes until the transactions before it have ended.
   */
  handedOut(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push({ upTo: null, resolve });
      this.wake(0);
    });
  }

  /** Other processes may have published without a word. */
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
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    this.started = null;
    this.announced = 0;
    this.waiting.splice(0).forEach(({ resolve }) => resolve());
  }

  private wake(seq: number): void {
    this.announced = Math.max(this.announced, seq);
    this.lookIn(Math.max(0, this.lookedAt + PAUSE_MS - performance.now()));
  }

  private lookIn(ms: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      void this.look();
    }, ms).unref();
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
          // What has been written leaves after this turn of the event loop, and others get theirs.
          await setImmediate();
        }
        if (found.isAll) break;
        found = await this.store.after(this.reached);
      }
      if (started !== this.started) return;
      this.answerUpTo(found.final);
      // On Postgres it lies a few milliseconds behind what has been committed.
      if (found.final < this.announced || this.waiting.length > 0) this.lookIn(PAUSE_MS / 2);
      this.isInTrouble = false;
    } catch (error) {
      if (!this.isInTrouble) this.logger.warn({ err: error }, 'the changelog cannot be read on; trying again');
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
