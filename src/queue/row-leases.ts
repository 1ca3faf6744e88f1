import type { Clock } from '../common/clock.js';
import { newId } from '../common/ids.js';
import type { Transaction, UnitOfWork } from '../database/unit-of-work.js';
import type { Lease } from './lease.js';
import {
  endLeases,
  endLostLease,
  findHeld,
  findLostLeases,
  type LostLease,
  renewLeases,
  replaceLostLease,
} from './leased-rows.js';
import type { Queue, QueuedRow } from './queue.js';

/**
 * After this many lost leases a row fails, because a row that crashes its process would otherwise do so forever.
 */
const MAX_LOST_LEASES = 10;

const TAKEN_AT_ONCE = 100;

/** A row whose holder no longer renews its lease. */
export type LostRow<Row extends QueuedRow> = Row & LostLease;

/** The holder of leases, their duration (ms), and what follows when they are handed back or lost. */
export interface Holder<Row extends QueuedRow> {
  owner: string;
  leaseMs: number;
  /**
   * Returns true if the row's work is over when its lease ends. Such a row fails immediately and is not repeated.
   */
  isOver?(lost: LostRow<Row>): boolean;
  /**
   * Queues about which this process knows too little to call `isOver`. Other processes handle leases that external
   * workers hold in them.
   */
  leftToOthers?(): Promise<string[]>;
  /**
   * Ends a row whose work is over, or whose lease was lost `lost_leases` times. It runs in a separate transaction that
   * holds no locks yet.
   */
  giveUp(tx: Transaction, lost: LostRow<Row>): Promise<void>;
  /** Called after the commit when a queue has something to claim that is not new. `lost`: the row, if its lease was lost. */
  returned(queue: string, lost?: Row): void;
}

/** Renews the leases of this process and takes over those that other processes lost. */
export class RowLeases<Row extends QueuedRow> {
  /** When the last renewal began (epoch ms). */
  private renewedAt = 0;

  constructor(
    private readonly queue: Queue<Row>,
    private readonly holder: Holder<Row>,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** A lease that begins now. */
  next(): Lease & { owner: string } {
    return { owner: this.holder.owner, until: this.clock.now() + this.holder.leaseMs };
  }

  /** Renews the leases of these rows. Leases of other rows expire and are taken over, as if this process had ended. */
  async renew(ids: readonly string[]): Promise<void> {
    this.renewedAt = this.clock.now();
    if (ids.length === 0) return;
    const renewed = new Set(await this.renewSome(ids, { wait: false }));
    const others = ids.filter((id) => !renewed.has(id));
    if (others.length === 0) return;
    // Most of them have ended. The rest is locked by transactions, each of which may want several rows: while this one
    // waits for it, it must not hold others.
    const locked = await findHeld(this.unitOfWork.reader, this.queue, this.holder.owner, others);
    await this.unitOfWork.inOrder(locked, async (id) => void (await this.renewSome([id], { wait: true })));
  }

  /**
   * Takes over all running rows that have lost their leases. Each of them repeats the same attempt. Returns their number.
   * `unowned`: only rows that external workers held. After the clock has jumped, this process can still renew those that
   * it runs.
   */
  async takeOverLost({ unowned = false } = {}): Promise<number> {
    let taken = 0;
    const leftToOthers = (await this.holder.leftToOthers?.()) ?? [];
    for (;;) {
      const { count, givenUp } = await this.unitOfWork.run((tx) => this.takeOverSome(tx, leftToOthers, unowned));
      await this.unitOfWork.inOrder(givenUp, (lost) => this.unitOfWork.run((tx) => this.holder.giveUp(tx, lost)));
      taken += count;
      if (count < TAKEN_AT_ONCE) return taken;
    }
  }

  /**
   * Hands back all rows of this process except `kept`: no lease counts as lost, and the same attempt runs again. Used
   * at the end of the shutdown grace period, and when it is unknown what was claimed.
   */
  async handBack(kept: readonly string[] = []): Promise<number> {
    const queues = await this.unitOfWork.run((tx) => endLeases(tx, this.queue, this.holder.owner, kept));
    for (const queue of new Set(queues)) this.holder.returned(queue);
    return queues.length;
  }

  private renewSome(ids: readonly string[], locked: { wait: boolean }): Promise<string[]> {
    const lease = this.next();
    return this.unitOfWork.run((tx) => renewLeases(tx, this.queue, lease, ids, locked), { relaxedDurability: true });
  }

  private async takeOverSome(
    tx: Transaction,
    leftToOthers: readonly string[],
    unowned: boolean,
  ): Promise<{ count: number; givenUp: LostRow<Row>[] }> {
    const lost = await findLostLeases(this.unitOfWork, tx, this.queue, {
      own: this.holder.owner,
      now: this.clock.now(),
      // The rows that this process runs were renewed since, even if the heartbeat has taken longer than a lease. A claim
      // that was committed late may have a lease that has expired, and the next renewal extends it.
      ownBefore: this.renewedAt - this.holder.leaseMs,
      leftToOthers,
      unowned,
      limit: TAKEN_AT_ONCE,
    });
    const givenUp: LostRow<Row>[] = [];
    for (const row of lost) {
      const again = { ...row, lost_leases: row.lost_leases + 1 };
      // Without an owner, the row is over again if this process ends before it has given it up.
      if (this.holder.isOver?.(row)) givenUp.push(await this.seize(tx, row, null));
      else if (again.lost_leases < MAX_LOST_LEASES) await this.takeOver(tx, again);
      else givenUp.push(await this.seize(tx, again, this.holder.owner));
    }
    return { count: lost.length, givenUp };
  }

  private async takeOver(tx: Transaction, lost: LostRow<Row>): Promise<void> {
    await endLostLease(tx, this.queue, lost);
    tx.whenVisible(() => this.holder.returned(lost.queue, lost));
  }

  /**
   * Leases the row to this process instead of ending it in this transaction. Ending a row locks its correlation first
   * and then the row, as everywhere, but this transaction has already locked the row. If the process ends in between,
   * the lease is lost once more.
   */
  private async seize(tx: Transaction, lost: LostRow<Row>, owner: string | null): Promise<LostRow<Row>> {
    const { until } = this.next();
    const lease_token = newId();
    await replaceLostLease(tx, this.queue, lost, { lease_token, lease_owner: owner, lease_until: until });
    return { ...lost, lease_token };
  }
}
