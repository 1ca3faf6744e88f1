import type { Socket } from 'node:net';

import { keepsOwnPace } from '../../http/connections/slow-readers.js';
import type { EntryBatch, GapEntry } from './entry.js';

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
  /** Sends a heartbeat. Returns false where the peer has not answered the last one. */
  abstract beat(position: number): boolean;
  /** Ends the stream as the protocol requires. */
  abstract end(): void;
}
