import { setImmediate } from 'node:timers/promises';
import { asksFor, type ChangelogReader } from '../../blackboard/queries/changelog-store.js';
import type { ChangelogFilter } from '../../blackboard/queries/changelog-rows.js';
import type { Cancel, Clock } from '../../common/clock.js';
import type { LiveEvent } from '../../pubsub/live-event.js';
import { type EntryBatch, inBatches } from './entry.js';
import type { ReadLimiter } from './read-limiter.js';
import type { Sink } from './sink.js';
import type { StreamBacklog, StreamMemory } from './stream-memory.js';
import type { TailListener, Tail } from './tail.js';

export const BEAT_MS = 15_000;

/** What a reader may be behind, beside what the system keeps for its connection; more would only be memory. */
const MOST_WAITING_BYTES = 256 * 1_024;

/** Why a stream ended. `slow`: its reader did not take what there was. */
export type StreamEnd = 'gone' | 'slow' | 'stopping' | 'failed';

export interface StreamParts {
  tail: Tail;
  limiter: ReadLimiter;
  clock: Clock;
  memory: StreamMemory;
  reader: ChangelogReader;
  sink: Sink;
  filter: ChangelogFilter;
  /** Called once. */
  onEnd: (end: StreamEnd, error?: unknown) => void;
}

/**
 * The changelog behind a position, for one reader: in pages until it has reached the tail, and from there on with it. What the reader
 * does not take in time is not skipped: the stream ends, and the reader resumes where it was.
 */
export class Stream implements TailListener {
  private hasEnded = false;
  private sentBytes = -1;
  private reportedDeleted = 0;
  private cancelBeat: Cancel = () => undefined;
  /** LiveEvents that came while it had not reached the tail; null once it has. */
  private early: [name: string, json: string][] | null = [];
  private earlyCharacters = 0;
  private readonly backlog: StreamBacklog;

  constructor(
    private readonly parts: StreamParts,
    /** It has everything up to here. */
    private position: number,
  ) {
    this.backlog = parts.memory.backlog(() => this.end('slow'));
  }

  begin(): void {
    const { sink } = this.parts;
    sink.onGone(() => this.end('gone'));
    if (this.hasEnded) return;
    sink.watchWaiting((bytes) => this.backlog.resize(bytes));
    sink.opened(this.position);
    this.beatLater();
    this.catchUp().catch((error: unknown) => this.end('failed', error));
  }

  deliver(batch: EntryBatch): void {
    const { filter, sink } = this.parts;
    // Another process may have been further than this one is.
    const wanted = batch.those((row) => row.seq > this.position && asksFor(filter, row));
    this.position = Math.max(this.position, batch.lastSeq);
    if (wanted.entries.length > 0 && this.hasRoom()) sink.entries(wanted);
  }

  /** Live events belong to correlations, but for those of a batch, which is of many. They come when the tail has handed out all before them. */
  liveEvent(event: LiveEvent, json: string): void {
    const { correlationIds } = this.parts.filter;
    const isWanted = correlationIds.length === 0 || ('correlation_id' in event && correlationIds.includes(event.correlation_id));
    if (!isWanted) return;
    if (this.early) this.keep(event.event_type, json);
    else if (this.hasRoom()) this.parts.sink.liveEvent(event.event_type, json);
  }

  fallBehind(): void {
    this.end('failed', new Error('live events have waited for entries that did not come; is a transaction on the database left open?'));
  }

  // The texts are shared by all streams.
  private keep(name: string, json: string): void {
    this.early!.push([name, json]);
    this.earlyCharacters += json.length;
    if (this.earlyCharacters > MOST_WAITING_BYTES) this.end('slow');
  }

  end(end: StreamEnd, error?: unknown): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    const { tail, sink, onEnd } = this.parts;
    this.cancelBeat();
    tail.unfollow(this);
    // A reader that takes nothing would not take the end either.
    if (end === 'stopping' && sink.waitingBytes === 0) sink.end();
    else sink.cut();
    this.backlog.release();
    onEnd(end, error);
  }

  private async catchUp(): Promise<void> {
    const { tail, limiter, sink } = this.parts;
    while (!this.hasEnded && this.position < tail.position) {
      await limiter.take(() => this.sendPage());
      await sink.drained();
    }
    // Nothing is awaited since the tail's position was compared: what it hands out next is what comes next here.
    if (this.hasEnded) return;
    tail.follow(this);
    const early = this.early!;
    this.early = null;
    for (const [name, json] of early) if (this.hasRoom()) sink.liveEvent(name, json);
  }

  /** As much of the next page as the reader takes; the rest is read again, so that nothing is kept for readers that take nothing. */
  private async sendPage(): Promise<void> {
    const { tail, reader, sink } = this.parts;
    const window = { low: this.position, high: tail.position };
    const { rows, upTo, deletedUpTo } = await reader.read(window);
    if (!this.hasEnded && deletedUpTo !== null) this.reportGap(deletedUpTo);
    for (const batch of inBatches(rows)) {
      if (this.hasEnded || sink.isFull) return;
      sink.entries(batch);
      this.position = batch.lastSeq;
      // What has been written leaves after this turn of the event loop.
      await setImmediate();
    }
    this.position = upTo;
  }

  /** With the position before it, so that a reader who resumes from there gets it again. */
  private reportGap(deletedUpTo: number): void {
    if (deletedUpTo <= this.reportedDeleted) return;
    this.reportedDeleted = deletedUpTo;
    this.parts.sink.gap({ seq: this.position, event_type: 'gap', to_seq: deletedUpTo });
  }

  private hasRoom(): boolean {
    if (this.parts.sink.waitingBytes <= MOST_WAITING_BYTES) return true;
    this.end('slow');
    return false;
  }

  private beatLater(): void {
    const { clock } = this.parts;
    this.cancelBeat = clock.at(clock.now() + BEAT_MS, () => this.beat());
  }

  private beat(): void {
    const { sink } = this.parts;
    const { sentBytes, waitingBytes } = sink;
    if (waitingBytes > 0 && sentBytes === this.sentBytes) return this.end('slow');
    this.sentBytes = sentBytes;
    if (!sink.beat(this.position)) return this.end('gone');
    this.beatLater();
  }
}
