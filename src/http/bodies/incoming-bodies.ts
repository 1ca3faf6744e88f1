import { BadRequestException, RequestTimeoutException } from '@nestjs/common';
import type { Request, Response } from 'express';

import type { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import type { MemoryBudget, MemoryReservation } from '../../common/memory-budget.js';
import { LookAgain } from '../connections/look-again.js';
import type { WaitingRequests } from '../connections/waiting-requests.js';

/** The rate of a transfer is measured over windows of this length. During the first window every rate is accepted. */
const WINDOW_MS = 10_000;

/**
 * A part takes microseconds, however small it is, so tiny parts would keep the process busy for a client that sends
 * little. Programs that write each number of a long list on its own stay below this many parts, or above this size.
 */
const MOST_TINY_PARTS = 100_000;
const LEAST_MEAN_BYTES = 8;

const INCOMING = Symbol('incoming body');

/**
 * The body of a request, from its headers until the answer. Its reader reports the memory that it takes, and is
 * notified if the request is refused in the meantime.
 */
export class IncomingBody {
  /** Receives the error to answer the request with; null while there is no reader. */
  onRefused: ((error: Error) => void) | null = null;
  /** Bytes of `memory` that were reserved while the body arrived. */
  arrivedBytes = 0;
  /** Parts still arrive until the connection is closed. */
  private isCutOff = false;
  private parts = 0;
  private partBytes = 0;
  private stopWaiting: (() => void) | null = null;
  private windowEndsAt: number;
  private windowBegan: number;

  constructor(
    private readonly bodies: IncomingBodies,
    readonly memory: MemoryReservation,
    private readonly request: Request,
    private readonly response: Response,
    readonly began: number,
    private readonly timeoutMs: number,
  ) {
    this.windowEndsAt = began + WINDOW_MS;
    this.windowBegan = request.socket.bytesRead;
  }

  /**
   * Whether no more bytes will arrive. A request that is answered early may never emit `end`, although its body
   * arrived.
   */
  get isOver(): boolean {
    return this.request.complete || this.request.socket.destroyed;
  }

  /** Reserves memory for bytes that have arrived. Throws a DomainError `unavailable` if there is none. */
  grow(bytes: number): void {
    this.memory.grow(bytes);
    this.arrivedBytes += bytes;
    this.bodies.grown(bytes);
  }

  /** Counts a part as it arrived. Cuts the body off if it arrives in too many tiny parts. */
  partArrived(bytes: number): void {
    this.parts += 1;
    this.partBytes += bytes;
    if (this.isCutOff || this.parts <= MOST_TINY_PARTS || this.partBytes >= this.parts * LEAST_MEAN_BYTES) return;
    this.cutOff(
      new BadRequestException(
        `The body arrived in more than ${MOST_TINY_PARTS} parts of less than ${LEAST_MEAN_BYTES} bytes on average; send larger parts`,
      ),
    );
  }

  /** See `HeldRequest.waits`. */
  waits(): void {
    this.stopWaiting ??= this.bodies.waiting.hold(this.request);
  }

  /** Releases everything after the answer. Idempotent. */
  end(): void {
    this.memory.release();
    this.stopWaiting?.();
    this.stopWaiting = null;
  }

  /** Why the body is refused as too slow at `now` (epoch ms); null if it is not. `leastRate`: bytes per second. */
  whyTooSlow(now: number, leastRate: number): string | null {
    if (now - this.began >= this.timeoutMs) return `The body did not arrive within ${this.timeoutMs / 1_000} s`;
    if (now < this.windowEndsAt) return null;
    const { bytesRead } = this.request.socket;
    const rate = (bytesRead - this.windowBegan) / ((now - this.windowEndsAt + WINDOW_MS) / 1_000);
    this.windowEndsAt = now + WINDOW_MS;
    this.windowBegan = bytesRead;
    return rate < leastRate ? `The body arrived more slowly than ${leastRate} bytes per second` : null;
  }

  refuse(error: Error): void {
    this.onRefused?.(error);
  }

  /** Like `refuse`, and closes the connection after the answer. */
  cutOff(error: Error): void {
    this.isCutOff = true;
    if (this.response.headersSent) {
      this.request.socket.destroy();
      return;
    }
    this.response.setHeader('Connection', 'close');
    this.refuse(error);
  }
}

/**
 * The bodies that have not arrived completely. A body that takes too long or arrives too slowly is refused with 408.
 * Together they take at most half of the memory budget. Above that, the body with the largest product of bytes and time
 * is refused with 503, so that clients with unfinished bodies cannot block others.
 */
export class IncomingBodies {
  private readonly arriving = new Set<IncomingBody>();
  private arrivedBytes = 0;
  private readonly looks: LookAgain;

  /** `leastRate`: bytes per second. */
  constructor(
    private readonly clock: Clock,
    private readonly budget: MemoryBudget,
    private readonly leastRate: number,
    readonly waiting: WaitingRequests,
  ) {
    this.looks = new LookAgain(clock, () => this.look());
  }

  /** Starts watching the body of a request that announces one. Must run before anything reads the body. */
  begin(request: Request, response: Response, timeoutMs: number): void {
    const body = new IncomingBody(this, this.budget.reserve(0), request, response, this.clock.now(), timeoutMs);
    (request as WithBody)[INCOMING] = body;
    this.arriving.add(body);
    request.on('end', () => this.arrived(body));
    this.looks.later();
  }

  grown(bytes: number): void {
    this.arrivedBytes += bytes;
    if (this.arrivedBytes > this.budget.limitBytes / 2) this.refuseWorst();
  }

  private arrived(body: IncomingBody): void {
    if (this.arriving.delete(body)) this.forgetBytes(body);
  }

  private forgetBytes(body: IncomingBody): void {
    this.arrivedBytes -= body.arrivedBytes;
    body.arrivedBytes = 0;
  }

  private refuseWorst(): void {
    const now = this.clock.now();
    const harm = (body: IncomingBody): number => body.arrivedBytes * (now - body.began + 1);
    const worst = [...this.arriving].reduce((one, other) => (harm(other) > harm(one) ? other : one));
    // The body stays in `arriving`: the rest of it is read and dropped, within the same time limit.
    this.forgetBytes(worst);
    worst.refuse(
      new DomainError('unavailable', 'The service has no memory for bodies that arrive slowly now; try again'),
    );
  }

  private look(): boolean {
    const now = this.clock.now();
    for (const body of this.arriving) {
      if (body.isOver) {
        this.arrived(body);
        continue;
      }
      const problem = body.whyTooSlow(now, this.leastRate);
      if (problem === null) continue;
      this.arrived(body);
      body.cutOff(new RequestTimeoutException(problem));
    }
    return this.arriving.size > 0;
  }
}

type WithBody = Request & { [INCOMING]?: IncomingBody };

/** Undefined if the request announces no body. */
export const incomingBody = (request: Request): IncomingBody | undefined => (request as WithBody)[INCOMING];
