import type { Socket } from 'node:net';
import { keepsOwnPace } from '../../http/connections/slow-readers.js';
import type { EntryBatch, GapEntry } from './entry.js';

/** Where a stream's entries go, in the form of its protocol. */
export abstract class Sink {
  private onWaiting: (bytes: number) => void = () => undefined;
  private isLookDue = false;

  protected constructor(protected readonly socket: Socket) {
    // So that a peer that is gone without a word is noticed though nothing is sent.
    socket.setKeepAlive(true, 30_000);
    keepsOwnPace(socket);
  }

  /** Bytes that the reader has not taken yet, beyond what the system keeps for it. */
  get waitingBytes(): number {
    return this.socket.writableLength;
  }

  /** Bytes that have left for good. */
  get sentBytes(): number {
    return this.socket.bytesWritten - this.socket.writableLength;
  }

  /** More would only pile up. */
  get isFull(): boolean {
    return this.socket.writableNeedDrain;
  }

  /** Resolves when more can be written without piling it up, or the connection is gone. */
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

  /** Cuts the connection, whatever waits. */
  cut(): void {
    this.socket.destroy();
  }

  /** Calls back once, when the connection is gone. */
  onGone(callback: () => void): void {
    if (this.socket.destroyed) callback();
    else this.socket.once('close', callback);
  }

  /** Calls back with `waitingBytes` after each write, and when what was written has left. */
  watchWaiting(callback: (bytes: number) => void): void {
    this.onWaiting = callback;
  }

  /** The callback of each write. */
  protected readonly hasLeft = (): void => this.onWaiting(this.waitingBytes);

  /** Call it after a write. Most writes have left by the end of this turn, when the socket is uncorked. */
  protected wrote(): void {
    if (this.isLookDue) return;
    this.isLookDue = true;
    process.nextTick(() => {
      this.isLookDue = false;
      this.onWaiting(this.waitingBytes);
    });
  }

  /** Says behind which position the stream begins. */
  abstract opened(position: number): void;
  abstract entries(batch: EntryBatch): void;
  abstract gap(gap: GapEntry): void;
  abstract liveEvent(name: string, json: string): void;
  /** Shows that the connection lives; false where its other end does not. */
  abstract beat(position: number): boolean;
  /** Ends it as the protocol has it. */
  abstract end(): void;
}
