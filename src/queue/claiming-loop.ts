import type { BackgroundLoop } from '../common/background-loop.js';
import type { Clock } from '../common/clock.js';
import { isUnavailable } from '../common/domain-error.js';
import type { Logger } from '../common/logger.js';
import { scheduler } from '../common/scheduler.js';
import type { Transaction, UnitOfWork } from '../database/unit-of-work.js';
import type { Topic } from '../pubsub/signals.js';
import type { LeasedRow } from './leased-table.js';
import { retryTimer } from './retry-timer.js';
import type { Lease, RowClaims } from './row-claims.js';
import type { RowLeases } from './row-leases.js';
import type { FreeSlots, Slots } from './slots.js';

const CLAIM_AGAIN_AFTER_MS = 1_000;
/** Queues per round. Each costs a query and, on Postgres, a lock. Further rounds take the other queues. */
const QUEUES_AT_ONCE = 64;
/** Other transactions end within milliseconds. The pause uses machine time, not the service's clock. */
const MISSED_PAUSE_MS = 5;

/** The work that was started for a claim. */
export interface StartedRun {
  /** Resolves when the outcome is committed or another process has the claim. Never rejects. */
  committed: Promise<void>;
  /** Resolves when the started work has returned. Never rejects. */
  returned: Promise<void>;
  /**
   * Set if the work has not begun: it waits for what it needs until this resolves, and its slot is free meanwhile.
   * Never rejects.
   */
  waiting?: Promise<void>;
  /**
   * Stores what is known about the work when its claim was handed back and another process commits its outcome. Never
   * rejects.
   */
  handedBack?: () => Promise<void>;
}

/** Tells running work about its claim. */
export interface ClaimHolder {
  /** Returns false once the claim was handed back: another process then commits the outcome. */
  isOurs: () => boolean;
  /** Call this in the outcome's transaction, when transactions after it can see the outcome. */
  onOutcomeVisible: () => void;
  /** Call this if that transaction has failed, before the outcome is committed again. */
  onOutcomeLost: () => void;
}

/** The rows that a loop claims, and how it runs them. */
export interface Claimant<Claimed> {
  /** Plural name of the claimed items, for log lines. */
  name: string;
  /**
   * True if the limit of this queue also counts rows that other processes run. The process that frees a slot then looks
   * for rows that were found when no slot was free.
   */
  isLimitShared(queue: string): boolean;
  queueOf(claimed: Claimed): string;
  /** The queues in which rows may wait. */
  queues(): Iterable<string> | Promise<Iterable<string>>;
  claim(
    tx: Transaction,
    slots: FreeSlots,
    lease: Lease,
    now: number,
  ): Promise<{ claimed: Claimed[]; moreWaiting: string[]; missed: boolean }>;
  start(claimed: Claimed, abort: AbortController, holder: ClaimHolder): StartedRun;
}

/** The signals that wake the loop of a table. */
export interface ClaimTopics {
  ready: Topic<string>;
  returned: Topic<string>;
  retryScheduled: Topic<number>;
  resync: Topic<void>;
}

/**
 * Claims rows from queues as slots become free, and starts them. Signals wake it. It runs one round at a time, and a
 * round that a transaction woke joins the group commit of that transaction.
 */
export class ClaimingLoop<Claimed extends { id: string }, Row extends LeasedRow, Input> {
  // The key is the claim, not the row: a retry can be claimed before the previous attempt has left the map.
  private readonly running = new Map<
    Claimed,
    { abort: AbortController; done: Promise<void>; handedBack: StartedRun['handedBack'] }
  >();
  /** Queues that may have waiting rows. */
  private readonly pendingQueues = new Set<string>();
  private claiming: Promise<void> | null = null;
  /** Ids that were cancelled during a round of claims. The round may have claimed them. */
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
    if (!this.unitOfWork.dialect.exclusive && this.working) void this.lookAtAll();
  }

  /**
   * Stops claiming. Resolves when everything running has ended, or after `graceMs`, when it has handed back the rest.
   */
  async stop(graceMs: number): Promise<void> {
    this.working = false;
    await this.retries.stop();
    await this.claiming;
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

  /** Aborts running work. Its slots stay taken until it returns. The lease guard discards whatever it still returns. */
  abort(cancelled: ReadonlySet<string>, reason: Error): void {
    if (this.claiming) cancelled.forEach((id) => this.cancelledMeanwhile.add(id));
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
      this.cancelledMeanwhile.clear();
      this.claimSome();
    });
  }

  private async claimRound(): Promise<void> {
    let asked: string[] = [];
    try {
      this.claims.ready.look();
      const { claimed, moreWaiting, missed } = await this.unitOfWork.run(
        (tx) => {
          // The database may run this function again. It then serves the queues of the first run too.
          asked.forEach((queue) => this.pendingQueues.add(queue));
          // The queues are taken here and not earlier, so that this round serves every wake-up until now.
          const { byQueue, total } = this.slots.free(this.pendingQueues);
          const looked = new Map([...byQueue].slice(0, QUEUES_AT_ONCE));
          asked = [...looked.keys()];
          asked.forEach((queue) => this.pendingQueues.delete(queue));
          return this.claimant.claim(tx, { byQueue: looked, total }, this.leases.next(), this.clock.now());
        },
        { relaxedDurability: true },
      );
      this.trouble = null;
      moreWaiting.forEach((queue) => this.pendingQueues.add(queue));
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

  // It is unknown whether the round was committed. Without this, the rows that it may have claimed would wait until their
  // leases expire.
  private async handBackUnknown(): Promise<void> {
    try {
      if (!this.unitOfWork.dialect.exclusive && this.working) await this.leases.handBack(this.runningIds());
    } catch (error) {
      this.logger.debug(
        { err: error },
        'handing back the rows that a failed round may have claimed failed; their leases will expire',
      );
    }
  }

  private begin(claimed: Claimed): void {
    const queue = this.claimant.queueOf(claimed);
    this.slots.take(queue);
    const abort = new AbortController();
    let isFree = false;
    const free = (): void => {
      if (isFree) return;
      isFree = true;
      this.slots.release(queue);
      if (this.claimant.isLimitShared(queue)) this.pendingQueues.add(queue);
      this.claimSome();
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
