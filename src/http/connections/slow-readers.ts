import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../common/clock.js';
import type { MemoryBudget } from '../../common/memory-budget.js';
import { LookAgain } from './look-again.js';

/** Bytes of one write. How a reader gets on is seen by the writes that have left as a whole. */
export const WRITE_BYTES = 64 * 1_024;

/** Beside the time that the least rate allows for what waits: a line may falter. */
const GRACE_MS = 10_000;

/** While memory is short, a reader that takes nothing for this long is disconnected. */
const GRACE_WHEN_SHORT_MS = 5_000;

interface Progress {
  /** Bytes that have left in all. */
  sent: number;
  /** Since when no more have (epoch ms). */
  since: number;
}

const ownPace = new WeakSet<Socket>();

/** Exempts a connection, which has a separate rule for slow readers. */
export const keepsOwnPace = (socket: Socket): void => void ownPace.add(socket);

/**
 * Cuts connections that do not take what is answered to them: what waits for a reader is memory that others cannot have. The system keeps
 * some for each connection too, and takes more only when about a third of that has left.
 */
export class SlowReaders {
  private readonly open = new Map<Socket, Progress>();
  private readonly looks: LookAgain;
  private refusals = 0;

  /** `leastRate`: in bytes a second. */
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

  /** Whether a reservation was refused since the last look, or waits. */
  private isMemoryShort(): boolean {
    const { refusals, isWaitedFor } = this.memory;
    const isShort = isWaitedFor || refusals !== this.refusals;
    this.refusals = refusals;
    return isShort;
  }
}
