import type { Clock } from '../common/clock.js';
import { random } from '../common/random.js';
import type { Reader, Transaction, UnitOfWork } from '../database/unit-of-work.js';
import type { Lease } from './lease.js';
import { findNextRetry, releaseDueRetries, takingLeases } from './leased-rows.js';
import { inOrder, type Queue, type QueuedRow, type Rank } from './queue.js';
import { type FoundRows, ReadyRows } from './ready-rows.js';
import type { FreeSlots } from './slots.js';

export interface ClaimedRows<Row, Input> {
  /** In the order of priority. */
  rows: Row[];
  /** Guards the outcome of each row. */
  leaseToken: string;
  /** When they start (epoch ms): after the end of whatever the claim has waited for. */
  startedAt: number;
  /** The inputs of these rows, possibly with inputs of rows that were not claimed. */
  inputs: Input[];
  /** True if other transactions had locked some of the rows. */
  missed: boolean;
}

export interface Claimed<Row, Input> extends ClaimedRows<Row, Input> {
  /** Queues in which more rows may wait than there were slots for. */
  moreWaiting: string[];
  /** Queues in which no other row waits. */
  emptied: string[];
}

export interface Admitted<Row> {
  /** The rows that may start, in the order in which they were given. */
  admitted: Row[];
  /** The ids of rows that may not start, and that have left the queue until something lets them back. */
  blocked: ReadonlySet<string>;
  /** When they start (epoch ms). */
  startedAt: number;
}

/** Which rows may be claimed, and what is read with them. All run in the claim's transaction. */
export interface ClaimRules<Row, Input> {
  /**
   * Returns how many more rows of limited queues may run in all processes. It is asked first, and no other transaction
   * may change the count until the commit.
   */
  free(tx: Transaction, queues: string[]): Promise<ReadonlyMap<string, number>>;
  /** Finds the rows of a queue with another order. Null for a queue that is claimed by priority and age. */
  find?(tx: Transaction, queue: string, limit: number): Promise<FoundRows<Row>> | null;
  /** Decides which of the rows may start now. Without it, all of them may. */
  admit?(tx: Transaction, rows: readonly Row[]): Promise<Admitted<Row>>;
  inputsOf(tx: Transaction, ids: string[]): Promise<Input[]>;
  /** Discards remembered counts, which may be wrong. */
  forget(): void;
}

/**
 * Claims waiting rows of a table. The claim is committed before the work starts, so that a crash shows as a lost lease.
 */
export class RowClaims<Row extends QueuedRow, Input> {
  readonly ready: ReadyRows<Row>;
  private readonly takeLeases: ReturnType<typeof takingLeases>;

  constructor(
    private readonly queue: Queue<Row>,
    private readonly rules: ClaimRules<Row, Input>,
    ranksOf: (queue: string) => Rank[] | null,
    private readonly clock: Clock,
    unitOfWork: UnitOfWork,
  ) {
    this.ready = new ReadyRows(queue, ranksOf, clock, unitOfWork);
    this.takeLeases = takingLeases(queue);
  }

  async claim(tx: Transaction, slots: FreeSlots, lease: Lease): Promise<Claimed<Row, Input>> {
    // Both queries are sent together and answered in this order. The counts come first; no transaction changes them
    // until the commit.
    const [free, found] = await Promise.all([
      this.rules.free(tx, [...slots.byQueue.keys()]),
      Promise.all([...slots.byQueue].map(([queue, here]) => this.find(tx, queue, Math.min(here, slots.total)))),
    ]);
    const chosen = merged(
      found.map(({ queue, ready }) => ready.slice(0, free.get(queue))),
      slots.total,
    );
    const { notReady, ...taken } = await this.take(tx, chosen, lease);
    const { rows } = taken;
    for (const { queue, settle } of found) await settle?.(rows.filter((row) => row.queue === queue));
    const moreWaiting: string[] = [];
    const emptied: string[] = [];
    for (const { queue, ready, isAll, moveFrontier } of found) {
      const firstLeft = ready.findIndex(({ id }) => !notReady.has(id));
      moveFrontier(firstLeft < 0 ? ready : ready.slice(0, firstLeft), isAll && firstLeft < 0);
      // If the limit of all processes is reached, the process that frees a slot searches again. If the queue is paused,
      // resuming it does.
      if (isAll && firstLeft < 0) emptied.push(queue);
      else if (free.get(queue) !== 0) moreWaiting.push(queue);
    }
    return { ...taken, moreWaiting, emptied };
  }

  /**
   * Claims rows that were found in another way. If not all of a queue may run, it claims the first. Rows that are no
   * longer ready are left out.
   */
  async claimThese(tx: Transaction, found: readonly Row[], lease: Lease): Promise<ClaimedRows<Row, Input>> {
    const queues = [...new Set(found.map(({ queue }) => queue))];
    const free = await this.rules.free(tx, queues);
    const chosen = queues.flatMap((queue) => found.filter((row) => row.queue === queue).slice(0, free.get(queue)));
    return this.take(tx, chosen, lease);
  }

  /** Discards remembered searches and counts, which may be wrong. */
  forget(): void {
    this.ready.forget();
    this.rules.forget();
  }

  /** Makes due retries claimable. Returns their queues. */
  async releaseRetries(tx: Transaction, now: number): Promise<string[]> {
    return [...new Set(await releaseDueRetries(tx, this.queue, now))];
  }

  /** When the next retry is due (epoch ms), or null if none waits. */
  nextRetry(reader: Reader): Promise<number | null> {
    return findNextRetry(reader, this.queue);
  }

  private find(tx: Transaction, queue: string, limit: number): Promise<FoundRows<Row>> {
    return this.rules.find?.(tx, queue, limit) ?? this.ready.find(tx, queue, limit);
  }

  /** `notReady`: the ids of the rows that were claimed or blocked. `missed`: other transactions had locked some of the rows. */
  private async take(
    tx: Transaction,
    chosen: readonly Row[],
    lease: Lease,
  ): Promise<ClaimedRows<Row, Input> & { notReady: Set<string> }> {
    // External workers get this token, and it lets them end the execution, so it must not be predictable from another
    // one.
    const leaseToken = random.uuid();
    const { admitted, blocked, startedAt } = (await this.rules.admit?.(tx, chosen)) ?? {
      admitted: chosen,
      blocked: new Set<string>(),
      startedAt: this.clock.now(),
    };
    const ids = admitted.map(({ id }) => id);
    const [leased, inputs] = await Promise.all([
      this.takeLeases(tx.db, { leaseToken, ...lease, now: startedAt }, ids),
      this.rules.inputsOf(tx, ids),
    ]);
    const ours = new Set(leased.map(({ id }) => id));
    const rows = admitted.filter(({ id }) => ours.has(id));
    const notReady = new Set([...ours, ...blocked]);
    return { rows, notReady, leaseToken, startedAt, inputs, missed: notReady.size < chosen.length };
  }
}

/** The first rows of several queues. Those of each queue keep their order. */
function merged<Row extends QueuedRow>(queues: readonly Row[][], count: number): Row[] {
  const places = queues.map(() => 0);
  const headOf = (index: number): Row | undefined => queues[index]![places[index]!];
  const rows: Row[] = [];
  while (rows.length < count) {
    let first = -1;
    for (const index of queues.keys()) {
      const head = headOf(index);
      if (head && (first < 0 || inOrder(head, headOf(first)!) < 0)) first = index;
    }
    if (first < 0) break;
    rows.push(headOf(first)!);
    places[first]! += 1;
  }
  return rows;
}
