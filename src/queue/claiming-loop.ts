import { BackgroundLoop } from '../common/background-loop.js';
import type { Clock } from '../common/clock.js';
import { isUnavailable } from '../common/domain-error.js';
import type { Logger } from '../common/logger.js';
import { scheduler } from '../common/scheduler.js';
import type { UnitOfWork } from '../database/unit-of-work.js';
import type { Topic } from '../pubsub/signals.js';
import type { Claimant, ClaimTopics } from './claimant.js';
import { KeptSlots } from './kept-slots.js';
import type { Lease } from './lease.js';
import type { QueuedRow } from './queue.js';
import { retryTimer } from './retry-timer.js';
import type { RowClaims } from './row-claims.js';
import type { RowLeases } from './row-leases.js';
import { RunningWork } from './running-work.js';
import type { Slots } from './slots.js';

const CLAIM_AGAIN_AFTER_MS = 1_000;
/** Queues per round. Each costs a query and, on Postgres, a lock. Further rounds take the other queues. */
const QUEUES_AT_ONCE = 64;
/** Other transactions end within milliseconds. The pause uses machine time, not the service's clock. */
const MISSED_PAUSE_MS = 5;

/**
 * Claims rows from queues as slots become free, and runs them, from its start to its stop. Signals wake it. It claims
 * one round at a time; a round that a transaction woke joins the group commit of that transaction.
 */
export class ClaimingLoop<Claimed extends { id: string }, Row extends QueuedRow, Input> {
  private readonly work: RunningWork<Claimed>;
  /** The round of claims that runs now. */
  private round: Promise<void> | null = null;
  /** Why the last round failed. */
  private trouble: string | null = null;
  /** Queues that may have waiting rows. A round removes those that it looks through. */
  private readonly pendingQueues = new Set<string>();
  private readonly kept: KeptSlots;
  /** True while rows are handed back of which it is unknown whether this process runs them. */
  private handingBack = false;
  /** Ids that were cancelled during a round of claims, which may have claimed them, or while slots were kept. */
  private readonly cancelledMeanwhile = new Set<string>();
  private working = false;
  private readonly unsubscribe: (() => void)[] = [];
  /** Finds the queues that have waiting rows. */
  private readonly looking: BackgroundLoop;
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
    this.work = new RunningWork(claimant, slots, clock, (queue) => this.freed(queue));
    this.looking = new BackgroundLoop(() => this.lookForQueues(), {
      clock,
      logger,
      failure: `looking for ${claimant.name} failed`,
      backOffMs: CLAIM_AGAIN_AFTER_MS,
    });
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
    return this.work.ids;
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
    await Promise.all([this.looking.stop(), this.retries.stop()]);
    await this.round;
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
    if (await this.work.endsWithin(graceMs)) return;
    const afterHandingBack = this.work.abandon(new DOMException('the service is shutting down', 'AbortError'));
    const handedBack = await this.leases.handBack();
    await afterHandingBack();
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

  /** Whether a new row of the queue would start immediately. */
  hasFreeSlot(queue: string): boolean {
    return this.working && !this.handingBack && this.kept.isFree(queue);
  }

  startKept(claimed: Claimed): void {
    // Another transaction of the same commit may have cancelled it. Its effects come first.
    void Promise.resolve().then(() => {
      this.kept.end(claimed.id);
      if (this.cancelledMeanwhile.has(claimed.id)) this.work.release(this.claimant.queueOf(claimed));
      else this.work.start(claimed);
      this.forgetCancelled();
    });
  }

  /** Idempotent. `isUnknown`: the row may have been committed, although its transaction failed. */
  releaseKept(queue: string, id: string, isUnknown: boolean): void {
    if (!this.kept.end(id)) return;
    this.work.release(queue);
    this.forgetCancelled();
    if (isUnknown) void this.handBackLater();
  }

  /** Aborts running work, and does not start what was claimed meanwhile. */
  abort(cancelled: ReadonlySet<string>, reason: Error): void {
    if (this.round || this.kept.isUsed) cancelled.forEach((id) => this.cancelledMeanwhile.add(id));
    this.work.abort(cancelled, reason);
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
    await this.looking.runAgain();
    await this.retries.runAgain();
  }

  private async lookForQueues(): Promise<void> {
    for (const queue of await this.claimant.queues()) this.pendingQueues.add(queue);
    this.claimSome();
  }

  // Each process that receives the signal searches immediately, so none is sent for a queue in which this process has a
  // free slot.
  private offerElsewhere(queues: readonly string[], topic: Topic<string>): void {
    const { byQueue } = this.slots.free(queues);
    for (const queue of queues) if (!this.working || !byQueue.has(queue)) topic.publishElsewhere(queue);
  }

  private forgetCancelled(): void {
    if (!this.round && !this.kept.isUsed) this.cancelledMeanwhile.clear();
  }

  /** Begins a round if none runs, and rows may wait for which a slot is free. */
  private claimSome(): void {
    if (!this.working || this.round || this.slots.free(this.pendingQueues).byQueue.size === 0) return;
    this.round = this.claimOnce().finally(() => {
      this.round = null;
      this.kept.endSearch();
      this.forgetCancelled();
      this.claimSome();
    });
  }

  private async claimOnce(): Promise<void> {
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
          return this.claimant.claim(tx, { byQueue: looked, total }, this.leases.next());
        },
        { relaxedDurability: true },
      );
      this.trouble = null;
      moreWaiting.forEach((queue) => this.pendingQueues.add(queue));
      this.kept.endSearch(emptied);
      claimed.forEach((each) => this.begin(each));
      this.offerElsewhere(moreWaiting, this.topics.ready);
      if (missed && claimed.length === 0) await scheduler.pause(MISSED_PAUSE_MS);
    } catch (error) {
      const { name } = this.claimant;
      this.trouble = isUnavailable(error) ? (error as Error).message : `claiming ${name} failed`;
      this.logger.error({ err: error }, `claiming ${name} failed; trying again`);
      asked.forEach((queue) => this.pendingQueues.add(queue));
      await this.recover();
    }
  }

  /** A round has failed. It is unknown whether it was committed. */
  private async recover(): Promise<void> {
    this.claims.forget();
    await this.clock.sleep(CLAIM_AGAIN_AFTER_MS);
    await this.handBackUnknown();
    await this.looking.runAgain();
  }

  private async handBackLater(): Promise<void> {
    await this.clock.sleep(CLAIM_AGAIN_AFTER_MS);
    await this.round;
    await this.handBackUnknown();
  }

  // It is unknown whether the round was committed. Without this, the rows that it may have claimed would wait until their
  // leases expire.
  private async handBackUnknown(): Promise<void> {
    if (!this.unitOfWork.mayCommitUnnoticed || !this.working) return;
    this.handingBack = true;
    try {
      await this.leases.handBack([...this.work.ids, ...this.kept.ids]);
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
    if (this.cancelledMeanwhile.has(claimed.id)) return;
    this.slots.take(this.claimant.queueOf(claimed));
    this.work.start(claimed);
  }

  private freed(queue: string): void {
    if (this.claimant.isLimitShared(queue)) this.pendingQueues.add(queue);
    this.claimSome();
  }
}
