import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../common/clock.js';
import { isUnavailable } from '../common/domain-error.js';
import type { Logger } from '../common/logger.js';
import type { Transaction, UnitOfWork } from '../database/unit-of-work.js';
import type { Topic } from '../pubsub/signals.js';
import type { LeasedRow } from './leased-table.js';
import { RetryTimer } from './retry-timer.js';
import type { Lease, RowClaims } from './row-claims.js';
import type { RowLeases } from './row-leases.js';
import type { FreeSlots, Slots } from './slots.js';

const CLAIM_AGAIN_AFTER_MS = 1_000;
/** Queues that one round looks at; each is a query, and on Postgres a lock. The others come next. */
const QUEUES_AT_ONCE = 64;
/** Others' transactions end within milliseconds; no time of the service's clock, but of the machine's. */
const MISSED_PAUSE_MS = 5;

/** What runs of a claim. */
export interface StartedRun {
  /** The outcome is committed, or no longer ours to commit. Never rejects. */
  committed: Promise<void>;
  /** What was started has returned. Never rejects. */
  returned: Promise<void>;
  /** It has not begun and waits, until this resolves, for what it needs; others take its slot meanwhile. Never rejects. */
  waiting?: Promise<void>;
  /** Keeps what is known of it, where it was handed back and its outcome is another's. Never rejects. */
  handedBack?: () => Promise<void>;
}

/** Who holds the claim while it runs. */
export interface ClaimHolder {
  /** False once the claim was handed back: its outcome is then another's. */
  isOurs: () => boolean;
  /** Called in the outcome's transaction, when transactions after it see it. */
  onOutcomeVisible: () => void;
}

/** What is claimed here, and what is done with it. */
export interface Claimant<Claimed> {
  /** What a claim is called, in the plural. */
  name: string;
  /** The limit of this queue counts more than this process runs: whoever frees a slot of it looks for what was found when none was free. */
  isLimitShared(queue: string): boolean;
  queueOf(claimed: Claimed): string;
  /** The queues in which something may wait. */
  queues(): Iterable<string> | Promise<Iterable<string>>;
  claim(tx: Transaction, slots: FreeSlots, lease: Lease, now: number): Promise<{ claimed: Claimed[]; moreWaiting: string[]; missed: boolean }>;
  start(claimed: Claimed, abort: AbortController, holder: ClaimHolder): StartedRun;
}

/** The wake-ups of a table's claims. */
export interface ClaimTopics {
  ready: Topic<string>;
  returned: Topic<string>;
  retryScheduled: Topic<number>;
  resync: Topic<void>;
}

/**
 * Claims what waits in queues as slots are free, and has it run. Wakes on signals; one round at a time, and a round that the triggering
 * transaction woke joins its group commit.
 */
export class ClaimingLoop<Claimed extends { id: string }, Row extends LeasedRow, Input> {
  // By claim and not by row: a retry can be claimed before the attempt before it has left.
  private readonly running = new Map<Claimed, { abort: AbortController; done: Promise<void>; handedBack: StartedRun['handedBack'] }>();
  /** Queues that may have something waiting. */
  private readonly pendingQueues = new Set<string>();
  private claiming: Promise<void> | null = null;
  /** What was cancelled while a round of claims was on its way, which may have claimed it. */
  private readonly cancelledMeanwhile = new Set<string>();
  private working = false;
  /** Why the last round of claims failed. */
  private trouble: string | null = null;
  private readonly unsubscribe: (() => void)[] = [];
  private readonly retries: RetryTimer<Row, Input>;

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
    this.retries = new RetryTimer(claims, (queue) => topics.returned.publishEverywhere(queue), clock, unitOfWork, logger);
  }

  get isWorking(): boolean {
    return this.working;
  }

  /** Why it cannot claim now; null where it can. */
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
    this.retries.start();
    this.unsubscribe.push(
      this.topics.ready.subscribe((queue) => this.wake(queue)),
      this.topics.returned.subscribe((queue) => this.wakeForReturned(queue)),
      this.topics.retryScheduled.subscribe((time) => this.retries.arm(time)),
      this.topics.resync.subscribe(() => this.resync()),
    );
    await this.lookAtAll();
  }

  /** Other processes may have ended, or left something, without a word. To be called from time to time. */
  lookAgain(): void {
    if (!this.unitOfWork.dialect.exclusive && this.working) void this.lookAtAll();
  }

  /** Claims no more; resolves when what runs has ended, or `graceMs` later, and then hands back what is left. */
  async stop(graceMs: number): Promise<void> {
    this.working = false;
    this.retries.stop();
    await this.claiming;
    try {
      await this.endOrHandBack(graceMs);
    } finally {
      // Until here: what outcomes of the grace period make claimable is for the others to claim, who must be told.
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
    this.logger.warn({ [name]: handedBack }, `shutdown grace is over: running ${name} are handed back and start again with the next process`);
  }

  /** A queue may have something to claim. */
  wake(queue: string): void {
    this.pendingQueues.add(queue);
    this.claimSome();
    this.offerElsewhere([queue], this.topics.ready);
  }

  /** Ends what runs. Its slots stay taken until it returns; what it still answers, the lease's guard discards. */
  abort(cancelled: ReadonlySet<string>, reason: Error): void {
    if (this.claiming) cancelled.forEach((id) => this.cancelledMeanwhile.add(id));
    for (const [{ id }, { abort }] of this.running) if (cancelled.has(id)) abort.abort(reason);
  }

  // Offered as what it is: others have perhaps searched beyond its place.
  private wakeForReturned(queue: string): void {
    this.claims.ready.returned(queue);
    this.pendingQueues.add(queue);
    this.claimSome();
    this.offerElsewhere([queue], this.topics.returned);
  }

  // A database that has crashed gives out numbers again that it had not yet written down.
  private resync(): void {
    this.claims.forget();
    if (this.working) void this.lookAtAll();
  }

  private async lookAtAll(): Promise<void> {
    await this.lookForQueues();
    await this.retries.release();
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

  // Each process that is told looks at once: for nothing, where this one has a slot itself.
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
      const { claimed, moreWaiting, missed } = await this.unitOfWork.run((tx) => {
        // Where the database runs this again, it is for those too that it was run for first.
        asked.forEach((queue) => this.pendingQueues.add(queue));
        // Taken here and not before: whoever woke us until now is served by this round.
        const { byQueue, total } = this.slots.free(this.pendingQueues);
        const looked = new Map([...byQueue].slice(0, QUEUES_AT_ONCE));
        asked = [...looked.keys()];
        asked.forEach((queue) => this.pendingQueues.delete(queue));
        return this.claimant.claim(tx, { byQueue: looked, total }, this.leases.next(), this.clock.now());
      }, { relaxedDurability: true });
      this.trouble = null;
      moreWaiting.forEach((queue) => this.pendingQueues.add(queue));
      claimed.filter(({ id }) => !this.cancelledMeanwhile.has(id)).forEach((each) => this.begin(each));
      this.offerElsewhere(moreWaiting, this.topics.ready);
      if (missed && claimed.length === 0) await setTimeout(MISSED_PAUSE_MS);
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

  // Whether the round was committed is not known: what it claimed, if it did, would wait until its leases have run out.
  private async handBackUnknown(): Promise<void> {
    try {
      if (!this.unitOfWork.dialect.exclusive && this.working) await this.leases.handBack(this.runningIds());
    } catch (error) {
      this.logger.debug({ err: error }, 'what a failed round may have claimed could not be handed back');
    }
  }

  private begin(claimed: Claimed): void {
    const queue = this.claimant.queueOf(claimed);
    this.slots.take(queue);
    const abort = new AbortController();
    const free = once(() => {
      this.slots.release(queue);
      if (this.claimant.isLimitShared(queue)) this.pendingQueues.add(queue);
      this.claimSome();
    });
    // A slot is held until what was started returns, which may be after its outcome.
    let hasReturned = false;
    const { committed, returned, waiting, handedBack } = this.claimant.start(claimed, abort, {
      isOurs: () => this.running.has(claimed),
      // The next claim joins the outcome's group commit: waiting for that commit would cost another one.
      onOutcomeVisible: () => hasReturned && free(),
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

function once(effect: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    effect();
  };
}
