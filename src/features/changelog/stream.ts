import type { Socket } from 'node:net';

import type { ChangelogFilter } from '../../blackboard/queries/changelog-rows.js';
import { asksFor, type ChangelogReader } from '../../blackboard/queries/changelog-store.js';
import type { Cancel, Clock } from '../../common/clock.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import { keepsOwnPace } from '../../http/connections/slow-readers.js';
import type { LiveEvent } from '../../pubsub/live-event.js';
import { type EntryBatch, type GapEntry, inBatches } from './entry.js';
import type { ReadLimiter } from './stream-limits.js';
import type { StreamBacklog, StreamMemory } from './stream-memory.js';
import type { Tail, TailListener } from './tail.js';

/** Writes the entries of a stream to its connection, in the form of its protocol. */
export abstract class Sink {
  private onWaiting: (bytes: number) => void = () => undefined;
  private isLookDue = false;

  protected constructor(protected readonly socket: Socket) {
    // Detects a peer that vanished while nothing is sent.
    socket.setKeepAlive(true, 30_000);
    keepsOwnPace(socket);
  }

  /** Bytes that wait in this process, in addition to the system's buffer. */
  get waitingBytes(): number {
    return this.socket.writableLength;
  }

  /** Bytes that were passed to the system. */
  get sentBytes(): number {
    return this.socket.bytesWritten - this.socket.writableLength;
  }

  /** Whether further writes would only accumulate in memory. */
  get isFull(): boolean {
    return this.socket.writableNeedDrain;
  }

  /** Resolves when the connection accepts further writes or is closed. */
  async drained(): Promise<void> {
    const { socket } = this;
    if (!this.isFull || socket.destroyed) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        socket.off('drain', done).off('close', done);
        resolve();
      };
      socket.on('drain', done).on('close', done);
    });
  }

  /** Closes the connection immediately, and drops waiting bytes. */
  cut(): void {
    this.socket.destroy();
  }

  /** Calls `callback` once, when the connection is closed. */
  onGone(callback: () => void): void {
    if (this.socket.destroyed) callback();
    else this.socket.once('close', callback);
  }

  /** Calls `callback` with `waitingBytes` after each write, and when the written bytes were sent. */
  watchWaiting(callback: (bytes: number) => void): void {
    this.onWaiting = callback;
  }

  /** Callback for each write. */
  protected readonly hasLeft = (): void => this.onWaiting(this.waitingBytes);

  /** Call it after a write. Most writes are sent at the end of this tick, when the socket is uncorked. */
  protected wrote(): void {
    if (this.isLookDue) return;
    this.isLookDue = true;
    process.nextTick(() => {
      this.isLookDue = false;
      this.onWaiting(this.waitingBytes);
    });
  }

  /** Sends the position after which the stream begins. */
  abstract opened(position: number): void;
  abstract entries(batch: EntryBatch): void;
  abstract gap(gap: GapEntry): void;
  abstract liveEvent(name: string, json: string): void;
  /** Sends a heartbeat. Returns false if the peer has not answered the last one. */
  abstract beat(position: number): boolean;
  /** Ends the stream as the protocol requires. */
  abstract end(): void;
}

export const BEAT_MS = 15_000;

/** Maximum backlog of a reader, in addition to the system's buffer. */
const MOST_WAITING_BYTES = 256 * 1_024;

/** The reason why a stream ended. `slow` means that the reader did not read fast enough. */
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
 * Sends the changelog after a position to one reader: in pages until it has reached the tail, and then together with
 * the tail. No entry is skipped for a slow reader: the stream ends, and the reader resumes from its position.
 */
export class Stream implements TailListener {
  private hasEnded = false;
  private sentBytes = -1;
  private reportedDeleted = 0;
  private cancelBeat: Cancel = () => undefined;
  /** Live events that came before the stream has reached the tail; null afterwards. */
  private early: [name: string, json: string][] | null = [];
  private earlyCharacters = 0;
  private readonly backlog: StreamBacklog;

  constructor(
    private readonly parts: StreamParts,
    /** The reader has everything up to here. */
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
    // The reader may come from another process that was ahead of this one.
    const wanted = batch.those((row) => row.seq > this.position && asksFor(filter, row));
    this.position = Math.max(this.position, batch.lastSeq);
    if (wanted.entries.length > 0 && this.hasRoom()) sink.entries(wanted);
  }

  /**
   * Sends a live event. It arrives after the tail has delivered all earlier entries. Events of batches belong to no
   * correlation, so a filter by correlation drops them.
   */
  liveEvent(event: LiveEvent, json: string): void {
    const { correlationIds, replays } = this.parts.filter;
    const isOfReplay = 'replay' in event && event.replay === true;
    const isWanted =
      correlationIds.length === 0
        ? replays || !isOfReplay
        : 'correlation_id' in event && correlationIds.includes(event.correlation_id);
    if (!isWanted) return;
    if (this.early) this.keep(event.event_type, json);
    else if (this.hasRoom()) this.parts.sink.liveEvent(event.event_type, json);
  }

  fallBehind(): void {
    this.end(
      'failed',
      new Error('live events waited too long for entries; check the database for a transaction that is still open'),
    );
  }

  // All streams share the texts, but each stream limits how many it keeps.
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
    // A reader that does not read would not read the end either.
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
    // No await since the comparison with the tail's position, so that the next batch of the tail follows this position.
    if (this.hasEnded) return;
    tail.follow(this);
    const early = this.early!;
    this.early = null;
    for (const [name, json] of early) if (this.hasRoom()) sink.liveEvent(name, json);
  }

  /**
   * Sends as much of the next page as the reader takes. The rest is read again later, so that slow readers use no
   * memory.
   */
  private async sendPage(): Promise<void> {
    const { tail, reader, sink } = this.parts;
    const window = { low: this.position, high: tail.position };
    const { rows, upTo, deletedUpTo } = await reader.read(window);
    if (!this.hasEnded && deletedUpTo !== null) this.reportGap(deletedUpTo);
    for (const batch of inBatches(rows)) {
      if (this.hasEnded || sink.isFull) return;
      sink.entries(batch);
      this.position = batch.lastSeq;
      // Written bytes are sent after this turn of the event loop.
      await yieldToEventLoop();
    }
    this.position = upTo;
  }

  /** Sends a gap with the position before it, so that a reader that resumes from there gets the gap again. */
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
