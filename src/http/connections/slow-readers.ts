import type { Server } from 'node:http';
import type { Socket } from 'node:net';

import type { Clock } from '../../common/clock.js';
import type { MemoryBudget } from '../../common/memory-budget.js';
import { LookAgain } from './look-again.js';

/** Bytes of one write. The progress of a reader is measured in complete writes. */
export const WRITE_BYTES = 64 * 1_024;

/**
 * Extra time on top of the time that the minimum rate allows for the waiting bytes, because a network may stall
 * briefly.
 */
const GRACE_MS = 10_000;

/** While memory is short, a reader that reads nothing for this long is disconnected. */
const GRACE_WHEN_SHORT_MS = 5_000;

interface Progress {
  /** Total bytes that the system has taken. */
  sent: number;
  /** Time of the last progress (epoch ms). */
  since: number;
}

const ownPace = new WeakSet<Socket>();

/** Exempts a connection that has its own rule for slow readers. */
export const keepsOwnPace = (socket: Socket): void => void ownPace.add(socket);

/**
 * Closes connections whose clients do not read their answers, because bytes that wait for a reader take memory from
 * other requests. The operating system buffers some bytes for each connection too, and takes more only after about a
 * third of them has left.
 */
export class SlowReaders {
  private readonly open = new Map<Socket, Progress>();
  private readonly looks: LookAgain;
  private refusals = 0;

  /** `leastRate`: bytes per second. */
  constructor(
    private readonly clock: Clock,
    private readonly memory: MemoryBudget,
    private readonly leastRate: number,
  ) {
    this.looks = new LookAgain(clock, () => this.look());
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.open.set(socket, { sent: 0, since: this.clock.now() });
      socket.once('close', () => this.open.delete(socket));
      this.looks.later();
    });
  }

  private look(): boolean {
    const now = this.clock.now();
    const isShort = this.isMemoryShort();
    for (const [socket, progress] of this.open) {
      if (!ownPace.has(socket) && this.isTooSlow(socket, progress, now, isShort)) socket.destroy();
    }
    return this.open.size > 0;
  }

  private isTooSlow(socket: Socket, progress: Progress, now: number, isShort: boolean): boolean {
    const waiting = socket.writableLength;
    const sent = waiting === 0 ? progress.sent : socket.bytesWritten - waiting;
    if (waiting === 0 || sent !== progress.sent) {
      progress.sent = sent;
      progress.since = now;
      return false;
    }
    const patience = isShort ? GRACE_WHEN_SHORT_MS : GRACE_MS + (waiting / this.leastRate) * 1_000;
    return now - progress.since >= patience;
  }

  /** Whether a reservation waits, or was refused since the last check. */
  private isMemoryShort(): boolean {
    const { refusals, isWaitedFor } = this.memory;
    const isShort = isWaitedFor || refusals !== this.refusals;
    this.refusals = refusals;
    return isShort;
  }
}
