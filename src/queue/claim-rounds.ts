import type { Clock } from '../common/clock.js';
import { isUnavailable } from '../common/domain-error.js';
import type { Logger } from '../common/logger.js';
import { scheduler } from '../common/scheduler.js';
import type { UnitOfWork } from '../database/unit-of-work.js';
import type { Claimant } from './claimant.js';
import type { KeptSlots } from './kept-slots.js';
import type { Lease } from './lease.js';
import type { Slots } from './slots.js';

/** Queues per round. Each costs a query and, on Postgres, a lock. Further rounds take the other queues. */
const QUEUES_AT_ONCE = 64;
/** Other transactions end within milliseconds. The pause uses machine time, not the service's clock. */
const MISSED_PAUSE_MS = 5;

/** The loop that rounds belong to: they ask it and tell it. */
export interface RoundHooks<Claimed> {
  isWorking(): boolean;
  /** A lease that begins now. */
  nextLease(): Lease;
  /** Called before each round, outside of its transaction. */
  beforeRound(): void;
  /** Runs a row that was claimed. */
  begin(claimed: Claimed): void;
  /** More rows may wait in these queues than there were slots for. */
  moreWaiting(queues: readonly string[]): void;
  /** A round has failed. It is unknown whether it was committed. The next round begins when this resolves. */
  afterFailure(): Promise<void>;
  /** Called after each round. */
  ended(): void;
}

/**
 * Claims rows from queues that may have some, one round at a time, as long as slots are free. A round that a transaction
 * woke joins the group commit of that transaction.
 */
export class ClaimRounds<Claimed> {
  private current: Promise<void> | null = null;
  private trouble: string | null = null;

  /** `pending`: the queues that may have waiting rows. A round removes those that it looks through. */
  constructor(
    private readonly claimant: Claimant<Claimed>,
    private readonly pending: Set<string>,
    private readonly slots: Slots,
    private readonly kept: KeptSlots,
    private readonly hooks: RoundHooks<Claimed>,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly logger: Logger,
  ) {}

  get isRunning(): boolean {
    return this.current !== null;
  }

  /** Why the last round failed, or null. */
  get whyNotClaiming(): string | null {
    return this.trouble;
  }

  /** Resolves when the current round has ended. */
  async ended(): Promise<void> {
    await this.current;
  }

  /** Begins a round if none runs, and rows may wait for which a slot is free. */
  claimSome(): void {
    if (!this.hooks.isWorking() || this.current || this.slots.free(this.pending).byQueue.size === 0) return;
    this.current = this.round().finally(() => {
      this.current = null;
      this.kept.endSearch();
      this.hooks.ended();
      this.claimSome();
    });
  }

  private async round(): Promise<void> {
    let asked: string[] = [];
    try {
      this.hooks.beforeRound();
      const { claimed, moreWaiting, emptied, missed } = await this.unitOfWork.run(
        (tx) => {
          // The database may run this function again. It then serves the queues of the first run too.
          asked.forEach((queue) => this.pending.add(queue));
          // The queues are taken here and not earlier, so that this round serves every wake-up until now.
          const { byQueue, total } = this.slots.free(this.pending);
          const looked = new Map([...byQueue].slice(0, QUEUES_AT_ONCE));
          asked = [...looked.keys()];
          asked.forEach((queue) => this.pending.delete(queue));
          this.kept.beginSearch({ byQueue: looked, total });
          return this.claimant.claim(tx, { byQueue: looked, total }, this.hooks.nextLease(), this.clock.now());
        },
        { relaxedDurability: true },
      );
      this.trouble = null;
      moreWaiting.forEach((queue) => this.pending.add(queue));
      this.kept.endSearch(emptied);
      claimed.forEach((each) => this.hooks.begin(each));
      this.hooks.moreWaiting(moreWaiting);
      if (missed && claimed.length === 0) await scheduler.pause(MISSED_PAUSE_MS);
    } catch (error) {
      const { name } = this.claimant;
      this.trouble = isUnavailable(error) ? (error as Error).message : `claiming ${name} failed`;
      this.logger.error({ err: error }, `claiming ${name} failed; trying again`);
      asked.forEach((queue) => this.pending.add(queue));
      await this.hooks.afterFailure();
    }
  }
}
