import { getHeapStatistics } from 'node:v8';

import { DomainError } from './domain-error.js';

/** The default share of V8's heap limit that clients' data may take. */
const DEFAULT_SHARE = 1 / 4;

const RETRY_AFTER_SECONDS = 1;

/**
 * The share of the budget that only small reservations may use, so that a few large requests cannot block all small
 * ones.
 */
const SHARE_OF_SMALL_ONES = 1 / 8;
const SMALL_BYTES = 64 * 1_024;

/** Bytes. V8 derives its heap limit from the memory of the machine or container, unless a flag sets it. */
export const defaultMemoryBudget = (): number => Math.floor(getHeapStatistics().heap_size_limit * DEFAULT_SHARE);

/**
 * The single budget, in bytes, for the data of clients that this process holds at the same time: bodies that are being
 * read, inflated and parsed, data that is kept while a client waits, and answers that are being sent. Code that holds
 * such data reserves its size first, so that no number of requests can exhaust the memory, even if each is small on the
 * wire.
 */
export class MemoryBudget {
  private used = 0;
  private readonly waiting: Waiting[] = [];
  private isExceeded = false;
  private refused = 0;

  /** The largest single reservation, in bytes. */
  readonly largestBytes: number;

  /** `smallBytes`: the largest size that counts as small. `refusal`: the error message for the client. */
  constructor(
    readonly limitBytes: number,
    private readonly smallBytes = SMALL_BYTES,
    private readonly refusal = 'The service has no memory for this request now; try again',
  ) {
    this.largestBytes = Math.max(Math.floor(limitBytes * (1 - SHARE_OF_SMALL_ONES)), Math.min(limitBytes, smallBytes));
  }

  /** Bytes that are reserved now. */
  get usedBytes(): number {
    return this.used;
  }

  /** How many reservations were refused. */
  get refusals(): number {
    return this.refused;
  }

  /** Whether a reservation waits for others to be released. */
  get isWaitedFor(): boolean {
    return this.waiting.length > 0;
  }

  /** How many reservations wait. */
  get waitingCount(): number {
    return this.waiting.length;
  }

  /** Throws a DomainError `unavailable` (503 with `Retry-After`) if `bytes` are not free. */
  reserve(bytes: number): MemoryReservation {
    const reservation = new MemoryReservation((change, total) => this.change(change, total));
    reservation.resize(bytes);
    return reservation;
  }

  /** Reserves `bytes` while `work` runs. Throws like `reserve`, before `work` begins. */
  async during<Result>(bytes: number, work: () => Promise<Result>): Promise<Result> {
    const reservation = this.reserve(bytes);
    try {
      return await work();
    } finally {
      reservation.release();
    }
  }

  /**
   * Like `reserve`, but returns null if `bytes` are not free, or if other reservations wait and this one is not small.
   */
  reserveNow(bytes: number): MemoryReservation | null {
    const mustWait = this.isWaitedFor && bytes > this.smallBytes;
    return mustWait || this.exceeds(bytes) ? null : this.reserve(bytes);
  }

  /** Counts bytes that are already held, even beyond the limit. */
  hold(bytes: number): MemoryReservation {
    this.used += bytes;
    return new MemoryReservation((change, total) => this.change(change, total), bytes);
  }

  /**
   * Like `reserve`, for data that can no longer be refused: it waits until the bytes are free. One such reservation at
   * a time may exceed the limit, so that these make progress one after another even while nothing else is released.
   */
  whenFree(bytes: number): Promise<MemoryReservation> {
    return new Promise((resolve) => {
      this.waiting.push({ bytes, admit: resolve, mayExceed: true });
      this.admitWaiting();
    });
  }

  /**
   * Like `whenFree`, for at most `largestBytes`, but it never exceeds the limit. Rejects with the signal's reason if
   * the signal aborts, and then reserves nothing.
   */
  async whenWithin(bytes: number, signal: AbortSignal): Promise<MemoryReservation> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<MemoryReservation>();
    const giveUp = (): void => {
      this.waiting.splice(this.waiting.indexOf(waiting), 1);
      reject(signal.reason as Error);
      this.admitWaiting();
    };
    const admit = (reservation: MemoryReservation): void => {
      signal.removeEventListener('abort', giveUp);
      resolve(reservation);
    };
    const waiting: Waiting = { bytes, admit, mayExceed: false };
    signal.addEventListener('abort', giveUp, { once: true });
    this.waiting.push(waiting);
    this.admitWaiting();
    return promise;
  }

  /** `total`: the size of the reservation after the change. */
  private change(bytes: number, total: number): void {
    if (bytes > 0 && this.used + bytes > this.limitFor(total)) {
      this.refused += 1;
      throw new DomainError('unavailable', this.refusal, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    this.used += bytes;
    if (bytes < 0) this.admitWaiting();
  }

  private exceeds(bytes: number): boolean {
    return this.used + bytes > this.limitFor(bytes);
  }

  /** The limit for the sum of all reservations when one of this size is made. */
  private limitFor(bytes: number): number {
    return bytes > this.smallBytes ? this.largestBytes : this.limitBytes;
  }

  private admitWaiting(): void {
    for (let next = this.waiting[0]; next; next = this.waiting[0]) {
      const exceeds = this.exceeds(next.bytes);
      if (exceeds && (this.isExceeded || !next.mayExceed)) return;
      this.waiting.shift();
      next.admit(exceeds ? this.beyond(next.bytes) : this.reserve(next.bytes));
    }
  }

  private beyond(bytes: number): MemoryReservation {
    this.isExceeded = true;
    this.used += bytes;
    return new MemoryReservation((change, total) => {
      this.isExceeded = false;
      this.change(change, total);
    }, bytes);
  }
}

interface Waiting {
  bytes: number;
  admit: (reservation: MemoryReservation) => void;
  mayExceed: boolean;
}

/** A part of the budget. It is reserved until `release`, which must be called on every path. */
export class MemoryReservation {
  private released = false;

  constructor(
    private readonly change: (bytes: number, total: number) => void,
    private held = 0,
  ) {}

  get bytes(): number {
    return this.held;
  }

  /**
   * Growing may throw the DomainError of `MemoryBudget.reserve`, and then changes nothing. Does nothing after
   * `release`.
   */
  resize(bytes: number): void {
    if (this.released) return;
    this.change(bytes - this.held, bytes);
    this.held = bytes;
  }

  grow(bytes: number): void {
    this.resize(this.held + bytes);
  }

  /** Idempotent. */
  release(): void {
    this.resize(0);
    this.released = true;
  }
}
