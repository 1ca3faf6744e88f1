import { sql } from 'kysely';

import type { Clock } from '../common/clock.js';
import { newId } from '../common/ids.js';
import { locking } from '../database/dialects/dialect.js';
import type { Transaction, UnitOfWork } from '../database/unit-of-work.js';
import { forEachInTransaction } from './for-each-in-transaction.js';
import { columnsOf, type LeasedRow, type LeasedTable } from './leased-table.js';
import type { Lease } from './row-claims.js';
import { isInState } from './state-predicate.js';

/**
 * After this many lost leases a row is given up, because a row that crashes its process would otherwise do so forever.
 */
export const MAX_LOST_LEASES = 10;

export const TAKEN_AT_ONCE = 100;

/** A row whose holder no longer renews its lease. */
export type LostRow<Row extends LeasedRow> = Row & {
  lease_token: string;
  lease_owner: string | null;
  lost_leases: number;
};

/** The holder of leases, their duration (ms), and what follows when they are handed back or lost. */
export interface Holder<Row extends LeasedRow> {
  owner: string;
  leaseMs: number;
  /**
   * Returns true if the row's work is over when its lease ends. Such a row is given up immediately instead of repeated.
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
  /** Called after the commit when a queue has something to claim that is not new. */
  returned(queue: string): void;
}

/** Renews the leases of this process and takes over those that other processes lost. */
export class RowLeases<Row extends LeasedRow> {
  constructor(
    private readonly table: LeasedTable,
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
    if (ids.length === 0) return;
    const { owner, until } = this.next();
    await this.unitOfWork.run(
      (tx) =>
        tx.db
          .updateTable(this.table.name)
          .set({ lease_until: until })
          .where(isInState('running'))
          .where('lease_owner', '=', owner)
          .where('id', 'in', ids)
          .execute(),
      { relaxedDurability: true },
    );
  }

  /**
   * Takes over all running rows whose lease is no longer renewed. A row with a lost lease repeats the same attempt.
   * Returns their number.
   */
  async takeOverLost(): Promise<number> {
    let taken = 0;
    const leftToOthers = (await this.holder.leftToOthers?.()) ?? [];
    for (;;) {
      const { count, givenUp } = await this.unitOfWork.run((tx) => this.takeOverSome(tx, leftToOthers));
      await forEachInTransaction(this.unitOfWork, givenUp, (tx, lost) => this.holder.giveUp(tx, lost));
      taken += count;
      if (count < TAKEN_AT_ONCE) return taken;
    }
  }

  /**
   * Hands back all rows of this process except `kept`: no lease counts as lost, and the same attempt runs again. Used
   * at the end of the shutdown grace period, and when it is unknown what was claimed.
   */
  async handBack(kept: readonly string[] = []): Promise<number> {
    const handedBack = await this.unitOfWork.run((tx) =>
      tx.db
        .updateTable(this.table.name)
        .set(WAITING_AGAIN)
        .where('state', '=', sql.lit('running' as const))
        .where('lease_owner', '=', this.holder.owner)
        .$if(kept.length > 0, (held) => held.where('id', 'not in', kept))
        .returning(`${this.table.queue} as queue`)
        .execute(),
    );
    for (const queue of new Set(handedBack.map((row) => row.queue))) this.holder.returned(queue);
    return handedBack.length;
  }

  private async takeOverSome(
    tx: Transaction,
    leftToOthers: readonly string[],
  ): Promise<{ count: number; givenUp: LostRow<Row>[] }> {
    const { exclusive } = this.unitOfWork.dialect;
    const lapsed = tx.db
      .selectFrom(this.table.name)
      .select([...columnsOf(this.table), 'lease_token', 'lease_owner', 'lost_leases'])
      .where('state', '=', sql.lit('running' as const))
      .where(({ eb, or }) => {
        const lapsed = eb('lease_until', '<', this.clock.now());
        return exclusive ? or([lapsed, eb('lease_owner', '!=', this.holder.owner)]) : lapsed;
      })
      .$if(leftToOthers.length > 0, (some) =>
        some.where(({ eb, or }) =>
          or([eb('lease_owner', 'is not', null), eb(this.table.queue, 'not in', leftToOthers)]),
        ),
      )
      .limit(TAKEN_AT_ONCE);
    const lost = await locking(tx.db, lapsed, { wait: false }).$castTo<LostRow<Row>>().execute();
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
    await this.update(tx, lost, WAITING_AGAIN);
    tx.whenVisible(() => this.holder.returned(lost.queue));
  }

  /**
   * Leases the row to this process instead of ending it in this transaction. Ending a row locks its correlation first
   * and then the row, as everywhere, but this transaction has already locked the row. If the process ends in between,
   * the lease is lost once more.
   */
  private async seize(tx: Transaction, lost: LostRow<Row>, owner: string | null): Promise<LostRow<Row>> {
    const { until } = this.next();
    const lease_token = newId();
    await this.update(tx, lost, { lease_token, lease_owner: owner, lease_until: until });
    return { ...lost, lease_token };
  }

  private async update(
    tx: Transaction,
    lost: LostRow<Row>,
    lease: typeof WAITING_AGAIN | { lease_token: string; lease_owner: string | null; lease_until: number },
  ): Promise<void> {
    await tx.db
      .updateTable(this.table.name)
      .set({ ...lease, lost_leases: lost.lost_leases })
      .where('id', '=', lost.id)
      .where('lease_token', '=', lost.lease_token)
      .execute();
  }
}

const WAITING_AGAIN = {
  state: 'pending',
  available_at: null,
  lease_token: null,
  lease_owner: null,
  lease_until: null,
} as const;
