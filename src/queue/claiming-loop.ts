import type { BackgroundLoop } from '../common/background-loop.js';
import type { Clock } from '../common/clock.js';
import { isUnavailable } from '../common/domain-error.js';
import type { Logger } from '../common/logger.js';
import { scheduler } from '../common/scheduler.js';
import type { UnitOfWork } from '../database/unit-of-work.js';
import type { Topic } from '../pubsub/signals.js';
import type { Claimant, ClaimTopics, StartedRun } from './claimant.js';
import { KeptSlots } from './kept-slots.js';
import type { Lease } from './lease.js';
import type { QueuedRow } from './queue.js';
import { retryTimer } from './retry-timer.js';
import type { RowClaims } from './row-claims.js';
import type { RowLeases } from './row-leases.js';
import type { Slots } from './slots.js';

const CLAIM_AGAIN_AFTER_MS = 1_000;
/** Queues per round. Each costs a query and, on Postgres, a lock. Further rounds take the other queues. */
const QUEUES_AT_ONCE = 64;
/** Other transactions end within milliseconds. The pause uses machine time, not the service's clock. */
const MISSED_PAUSE_MS = 5;

/**
 * Claims rows from queues as slots become free, and starts them. Signals wake it. It runs one round at a time, and a
 * round that a transaction woke joins the group commit of that transaction.
 */
export class ClaimingLoop<Claimed extends { id: string }, Row extends QueuedRow, Input> {
  // The key is the claim, not the row: a retry can be claimed before the previous attempt has left the map.
  private readonly running = new Map<
    Claimed,
    { abort: AbortController; done: Promise<void>; handedBack: StartedRun['handedBack'] }
  >();
  /** Queues that may have waiting rows. */
  private readonly pendingQueues = new Set<string>();
  private readonly kept: KeptSlots;
  private claiming: Promise<void> | null = null;
  /** True while rows are handed back of which it is unknown whether this process runs them. */
  private handingBack = false;
  /** Ids that were cancelled during a round of claims, which may have claimed them, or while slots were kept. */
  private readonly cancelledMeanwhile = new Set<string>();
  private working = false;
  /** Why the last round of claims failed. */
  private trouble: string | null = null;
  private readonly unsubscribe: (() => void)[] = [];
  private readonly retries: BackgroundLoop;

  constructor(
    private readonly claimant: Claimant<Claimed>,
    private readonly slots: Slots,
    private readonly claims: RowClaims<Row, Input>,
    private readonly leases: RowLeases<Row>,
    private readonly topics: ClaimTopics,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly logger: Logger,
  ) {
    this.kept = new KeptSlots(slots, this.pendingQueues);
    this.retries = retryTimer(claims, (queue) => topics.returned.publishEverywhere(queue), clock, unitOfWork, logger);
  }

  get isWorking(): boolean {
    return this.working;
  }

  /** Why it cannot claim now, or null if it can. */
  get whyNotClaiming(): string | null {
    return this.trouble;
  }

  runningIds(): string[] {
    return [...this.running.keys()].map(({ id }) => id);
  }

  /** Idempotent. */
  async start(): Promise<void> {
    if (this.working) return;
    this.working = true;
    this.unsubscribe.push(
      this.topics.ready.subscribe((queue) => this.wake(queue)),
      this.topics.returned.subscribe((queue) => this.wakeForReturned(queue)),
      this.topics.retryScheduled.subscribe((time) => this.retries.wake(time)),
      this.topics.resync.subscribe(() => this.resync()),
    );
    await this.lookAtAll();
  }

  /** Other processes may have ended or left rows without a signal, so this is called from time to time. */
  lookAgain(): void {
    if (this.unitOfWork.isShared && this.working) void this.lookAtAll();
  }

  /**
   * Stops claiming. Resolves when everything running has ended, or after `graceMs`, when it has handed back the rest.
   */
  async stop(graceMs: number): Promise<void> {
    this.working = false;
    await this.retries.stop();
    await this.claiming;
    await this.kept.unused();
    try {
      await this.endOrHandBack(graceMs);
    } finally {
      // The subscriptions stay until here: outcomes of the grace period make rows claimable, and other processes must
      // learn of them.
      this.unsubscribe.splice(0).forEach((unsubscribe) => unsubscribe());
    }
  }

  private async endOrHandBack(graceMs: number): Promise<void> {
    if (await this.endsWithin(graceMs)) return;
    const left = [...this.running.values()];
    this.running.clear();
    left.forEach(({ abort }) => abort.abort(new DOMException('the service is shutting down', 'AbortError')));
    const handedBack = await this.leases.handBack();
    await Promise.all(left.map((run) => run.handedBack?.()));
    const { name } = this.claimant;
    this.logger.warn(
      { [name]: handedBack },
      `the shutdown grace period is over: running ${name} are handed back and start again in the next process`,
    );
  }

  wake(queue: string): void {
    this.pendingQueues.add(queue);
    this.claimSome();
    this.offerElsewhere([queue], this.topics.ready);
  }

  /**
   * Keeps a slot for a row that a transaction inserts with the lease that is returned. Null if the row has to wait in its
   * queue. The caller calls `startKept` after the commit, or `releaseKept`.
   */
  keepSlot(queue: string, id: string): (Lease & { owner: string }) | null {
    return this.working && !this.handingBack && this.kept.keep(queue, id) ? this.leases.next() : null;
  }

  startKept(claimed: Claimed): void {
    // Another transaction of the same commit may have cancelled it. Its effects come first.
    void Promise.resolve().then(() => {
      this.kept.end(claimed.id);
      if (this.cancelledMeanwhile.has(claimed.id)) this.releaseSlot(this.claimant.queueOf(claimed));
      else this.run(claimed);
      this.forgetCancelled();
    });
  }

  /** Idempotent. `isUnknown`: the row may have been committed, although its transaction failed. */
  releaseKept(queue: string, id: string, isUnknown: boolean): void {
    if (!this.kept.end(id)) return;
    this.releaseSlot(queue);
    this.forgetCancelled();
    if (isUnknown) void this.handBackLater();
  }

  /** Aborts running work. Its slots stay taken until it returns. The lease guard discards whatever it still returns. */
  abort(cancelled: ReadonlySet<string>, reason: Error): void {
    if (this.claiming || this.kept.isUsed) cancelled.forEach((id) => this.cancelledMeanwhile.add(id));
    for (const [{ id }, { abort }] of this.running) if (cancelled.has(id)) abort.abort(reason);
  }

  // Published as a return, not as new: other processes may have searched beyond the row's position.
  private wakeForReturned(queue: string): void {
    this.claims.ready.returned(queue);
    this.pendingQueues.add(queue);
    this.claimSome();
    this.offerElsewhere([queue], this.topics.returned);
  }

  // After a crash, a database may assign sequence numbers again that it had not written to disk.
  private resync(): void {
    this.claims.forget();
    this.kept.forget();
    if (this.working) void this.lookAtAll();
  }

  private async lookAtAll(): Promise<void> {
    await this.lookForQueues();
    this.retries.wake();
    await this.retries.run();
    this.claimSome();
  }

  private async lookForQueues(): Promise<void> {
    try {
      for (const queue of await this.claimant.queues()) this.pendingQueues.add(queue);
    } catch (error) {
      this.logger.error({ err: error }, `looking for ${this.claimant.name} failed; trying again`);
      this.clock.at(this.clock.now() + CLAIM_AGAIN_AFTER_MS, () => this.working && void this.lookAtAll());
    }
  }

  // Each process that receives the signal searches immediately, so none is sent for a queue in which this process has a
  // free slot.
  private offerElsewhere(queues: readonly string[], topic: Topic<string>): void {
    const { byQueue } = this.slots.free(queues);
    for (const queue of queues) if (!this.working || !byQueue.has(queue)) topic.publishElsewhere(queue);
  }

  private claimSome(): void {
    if (!this.working || this.claiming || this.slots.free(this.pendingQueues).byQueue.size === 0) return;
    this.claiming = this.claimRound().finally(() => {
      this.claiming = null;
      this.kept.endSearch();
      this.forgetCancelled();
      this.claimSome();
    });
  }

  private forgetCancelled(): void {
    if (!this.claiming && !this.kept.isUsed) this.cancelledMeanwhile.clear();
  }

  private async claimRound(): Promise<void> {
    let asked: string[] = [];
    try {
      this.claims.ready.look();
      const { claimed, moreWaiting, emptied, missed } = await this.unitOfWork.run(
        (tx) => {
          // The database may run this function again. It then serves the queues of the first run too.
          asked.forEach((queue) => this.pendingQueues.add(queue));
          // The queues are taken here and not earlier, so that this round serves every wake-up until now.
          const { byQueue, total } = this.slots.free(this.pendingQueues);
          const looked = new Map([...byQueue].slice(0, QUEUES_AT_ONCE));
          asked = [...looked.keys()];
          asked.forEach((queue) => this.pendingQueues.delete(queue));
          this.kept.beginSearch({ byQueue: looked, total });
          return this.claimant.claim(tx, { byQueue: looked, total }, this.leases.next(), this.clock.now());
        },
        { relaxedDurability: true },
      );
      this.trouble = null;
      moreWaiting.forEach((queue) => this.pendingQueues.add(queue));
      this.kept.endSearch(emptied);
      claimed.filter(({ id }) => !this.cancelledMeanwhile.has(id)).forEach((each) => this.begin(each));
      this.offerElsewhere(moreWaiting, this.topics.ready);
      if (missed && claimed.length === 0) await scheduler.pause(MISSED_PAUSE_MS);
    } catch (error) {
      this.trouble = isUnavailable(error) ? (error as Error).message : `claiming ${this.claimant.name} failed`;
      this.logger.error({ err: error }, `claiming ${this.claimant.name} failed; trying again`);
      asked.forEach((queue) => this.pendingQueues.add(queue));
      this.claims.forget();
      await this.clock.sleep(CLAIM_AGAIN_AFTER_MS);
      await this.handBackUnknown();
      await this.lookForQueues();
    }
  }

  private async handBackLater(): Promise<void> {
    await this.clock.sleep(CLAIM_AGAIN_AFTER_MS);
    await this.claiming;
    await this.handBackUnknown();
  }

  // It is unknown whether the round was committed. Without this, the rows that it may have claimed would wait until their
  // leases expire.
  private async handBackUnknown(): Promise<void> {
    if (!this.unitOfWork.mayCommitUnnoticed || !this.working) return;
    this.handingBack = true;
    try {
      await this.leases.handBack([...this.runningIds(), ...this.kept.ids]);
    } catch (error) {
      this.logger.debug(
        { err: error },
        'handing back the rows that a failed round may have claimed failed; their leases will expire',
      );
    } finally {
      this.handingBack = false;
    }
  }

  private begin(claimed: Claimed): void {
    this.slots.take(this.claimant.queueOf(claimed));
    this.run(claimed);
  }

  private releaseSlot(queue: string): void {
    this.slots.release(queue);
    if (this.claimant.isLimitShared(queue)) this.pendingQueues.add(queue);
    this.claimSome();
  }

  /** It has a slot already. */
  private run(claimed: Claimed): void {
    const abort = new AbortController();
    const queue = this.claimant.queueOf(claimed);
    let isFree = false;
    const free = (): void => {
      if (isFree) return;
      isFree = true;
      this.releaseSlot(queue);
    };
    // A slot is taken until the started work returns, which may be after its outcome.
    let hasReturned = false;
    const { committed, returned, waiting, handedBack } = this.claimant.start(claimed, abort, {
      isOurs: () => this.running.has(claimed),
      // The next claim joins the group commit of the outcome. Waiting for that commit would cost a second one.
      onOutcomeVisible: () => hasReturned && free(),
      // The outcome was rolled back, for example on a full disk, so its row still counts for the limit.
      onOutcomeLost: () => {
        if (isFree) this.slots.take(queue);
        isFree = false;
      },
    });
    if (waiting) {
      this.slots.beginWaiting();
      void waiting.then(() => this.slots.endWaiting());
    }
    const done = committed.finally(() => this.running.delete(claimed));
    this.running.set(claimed, { abort, done, handedBack });
    void returned.then(() => {
      hasReturned = true;
    });
    void Promise.all([done, returned]).then(free);
  }

  private async endsWithin(graceMs: number): Promise<boolean> {
    if (this.running.size === 0) return true;
    let cancel = (): void => undefined;
    const grace = new Promise<false>((resolve) => {
      cancel = this.clock.at(this.clock.now() + graceMs, () => resolve(false));
    });
    const ended = Promise.allSettled([...this.running.values()].map(({ done }) => done)).then(() => true as const);
    return Promise.race([ended, grace]).finally(() => cancel());
  }
}
