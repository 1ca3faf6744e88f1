import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Clock } from '../common/clock.js';
import { dialectOf, locking } from '../database/dialects/dialect.js';
import { preparedWithList } from '../database/prepared.js';
import type { Reader, Transaction, UnitOfWork } from '../database/unit-of-work.js';
import { isInState } from './state-predicate.js';
import type { LeasedRow, LeasedTable } from './leased-table.js';
import { ReadyRows } from './ready-rows.js';
import type { FreeSlots } from './slots.js';

/** A lease to be taken, or renewed: which process holds it, and until when (epoch ms). One of no process outlives them all. */
export interface Lease {
  owner: string | null;
  until: number;
}

export interface Claimed<Row, Input> {
  /** In the order of their priorities. */
  rows: Row[];
  /** Of each of them: the guard of its outcome. */
  leaseToken: string;
  /** What was read along with them, and perhaps with some that were not claimed after all. */
  inputs: Input[];
  /** Queues that may have more waiting than there were slots for. */
  moreWaiting: string[];
  /** Some were there, but held by other transactions. */
  missed: boolean;
}

/** What may be claimed, and what is read along with it; both in the transaction of the claim. */
export interface ClaimRules<Input> {
  /** How many more of some queues may run on all processes; asked first, and nobody else may change it until the commit. */
  free(tx: Transaction, queues: string[]): Promise<ReadonlyMap<string, number>>;
  inputsOf(tx: Transaction, ids: string[]): Promise<Input[]>;
  /** What was remembered of earlier counts may no longer hold. */
  forget(): void;
}

/** Claims waiting rows of a table. The claim is committed before anything is done with them, so that a crash is seen as a lost lease. */
export class RowClaims<Row extends LeasedRow, Input> {
  readonly ready: ReadyRows<Row>;
  private readonly takeLease: ReturnType<typeof leaseTaking>;

  constructor(
    private readonly table: LeasedTable,
    private readonly rules: ClaimRules<Input>,
    prioritiesOf: (queue: string) => number[],
    clock: Clock,
    unitOfWork: UnitOfWork,
  ) {
    this.ready = new ReadyRows(table, prioritiesOf, clock, unitOfWork);
    this.takeLease = leaseTaking(table);
  }

  async claim(tx: Transaction, slots: FreeSlots, lease: Lease, now: number): Promise<Claimed<Row, Input>> {
    // Sent together, and answered in this order: first the counts, which nobody changes until the commit.
    const [free, found] = await Promise.all([
      this.rules.free(tx, [...slots.byQueue.keys()]),
      Promise.all([...slots.byQueue].map(([queue, here]) => this.ready.find(tx, queue, Math.min(here, slots.total)))),
    ]);
    const candidates = found.flatMap(({ queue, ready }) => ready.slice(0, free.get(queue)));
    const chosen = candidates.sort(byPriority).slice(0, slots.total);
    const { rows, ours, leaseToken, inputs } = await this.take(tx, chosen, lease, now);
    const moreWaiting: string[] = [];
    for (const { queue, ready, isAll, take } of found) {
      const firstLeft = ready.findIndex(({ id }) => !ours.has(id));
      take(firstLeft < 0 ? ready : ready.slice(0, firstLeft), isAll && firstLeft < 0);
      // Where the limit of all processes was reached, whoever frees a slot looks again; where it is paused, whoever resumes it.
      if (free.get(queue) !== 0 && !(isAll && firstLeft < 0)) moreWaiting.push(queue);
    }
    return { rows, leaseToken, inputs, moreWaiting, missed: rows.length < chosen.length };
  }

  /** Claims rows that were found in another way, the first of each queue where not all may run; what is no longer ready is left out. */
  async claimThese(tx: Transaction, found: readonly Row[], lease: Lease, now: number): Promise<Pick<Claimed<Row, Input>, 'rows' | 'leaseToken' | 'inputs'>> {
    const queues = [...new Set(found.map(({ queue }) => queue))];
    const free = await this.rules.free(tx, queues);
    const chosen = queues.flatMap((queue) => found.filter((row) => row.queue === queue).slice(0, free.get(queue)));
    return this.take(tx, chosen, lease, now);
  }

  /** What was remembered of earlier searches and counts may no longer hold. */
  forget(): void {
    this.ready.forget();
    this.rules.forget();
  }

  /** Makes retries whose time has come claimable; the queues that have some. */
  async releaseRetries(tx: Transaction, now: number): Promise<string[]> {
    const rows = await tx.db
      .updateTable(this.table.name)
      .set({ available_at: null })
      .where('state', '=', sql.lit('pending' as const))
      .where('available_at', 'is not', null)
      .where('available_at', '<=', now)
      .returning(`${this.table.queue} as queue`)
      .execute();
    return [...new Set(rows.map(({ queue }) => queue))];
  }

  /** When the next retry is due (epoch ms); null where none waits. */
  async nextRetry(reader: Reader): Promise<number | null> {
    const row = await reader
      .selectFrom(this.table.name)
      .select('available_at')
      .where('state', '=', sql.lit('pending' as const))
      .where('available_at', 'is not', null)
      .orderBy('available_at')
      .limit(1)
      .executeTakeFirst();
    return row?.available_at ?? null;
  }

  private async take(tx: Transaction, chosen: readonly Row[], lease: Lease, now: number): Promise<Pick<Claimed<Row, Input>, 'rows' | 'leaseToken' | 'inputs'> & { ours: Set<string> }> {
    // Outside the process, whoever knows it may end what it holds: none may follow from another.
    const leaseToken = randomUUID();
    const ids = chosen.map(({ id }) => id);
    const [leased, inputs] = await Promise.all([this.takeLease(tx.db, { leaseToken, ...lease, now }, ids), this.rules.inputsOf(tx, ids)]);
    const ours = new Set(leased.map(({ id }) => id));
    return { rows: chosen.filter(({ id }) => ours.has(id)), ours, leaseToken, inputs };
  }
}

/** Leaves out what has been ended since it was found, and what another transaction holds. */
const leaseTaking = (table: LeasedTable) =>
  preparedWithList<Lease & { leaseToken: string; now: number }, string, { id: string }>((db, place, ids) => {
    const ready = db
      .selectFrom(table.name)
      .select('id')
      .where('id', 'in', ids)
      .where(isInState('pending'))
      .where('available_at', 'is', null);
    return db
      .updateTable(table.name)
      .set(({ fn, ref }) => ({
        state: 'running',
        lease_token: place('leaseToken'),
        claim: dialectOf(db).nextClaim,
        lease_owner: place('owner'),
        lease_until: place('until'),
        // Of the first attempt: a repeated one begins nothing.
        started_at: fn.coalesce(ref('started_at'), place('now')),
        attempt_started_at: place('now'),
      }))
      .where('id', 'in', locking(db, ready, { wait: false }))
      .returning('id');
  });

const byPriority = (one: LeasedRow, other: LeasedRow): number => other.priority - one.priority || one.seq - other.seq;
