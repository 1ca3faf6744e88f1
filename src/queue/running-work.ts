import type { Clock } from '../common/clock.js';
import type { Claimant, StartedRun } from './claimant.js';
import type { Slots } from './slots.js';

interface Running {
  abort: AbortController;
  done: Promise<void>;
  handedBack: StartedRun['handedBack'];
}

/** The claimed rows that this process works on. Each has a slot from before its start until its work has returned. */
export class RunningWork<Claimed extends { id: string }> {
  // The key is the claim, not the row: a retry can be claimed before the previous attempt has left the map.
  private readonly running = new Map<Claimed, Running>();

  /** `freed` is called with the queue of each slot that becomes free. */
  constructor(
    private readonly claimant: Claimant<Claimed>,
    private readonly slots: Slots,
    private readonly clock: Clock,
    private readonly freed: (queue: string) => void,
  ) {}

  get ids(): string[] {
    return [...this.running.keys()].map(({ id }) => id);
  }

  /** Starts the work of a row that has a slot. */
  start(claimed: Claimed): void {
    const abort = new AbortController();
    const queue = this.claimant.queueOf(claimed);
    let isFree = false;
    const free = (): void => {
      if (isFree) return;
      isFree = true;
      this.release(queue);
    };
    // Its row counts for the limit again, also for claims that run before the outcome is stored again.
    const takeBack = (): void => {
      if (isFree) this.slots.take(queue);
      isFree = false;
    };
    // A slot is taken until the started work returns, which may be after its outcome.
    let hasReturned = false;
    const { committed, returned, waiting, handedBack } = this.claimant.start(claimed, abort, {
      isOurs: () => this.running.has(claimed),
      // The next claim joins the group commit of the outcome. Waiting for that commit would cost a second one.
      freeSlotIn: (tx) => {
        tx.whenVisible(() => hasReturned && free());
        tx.whenUndone(takeBack);
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

  /** Frees the slot of a row whose work has ended or never begins. */
  release(queue: string): void {
    this.slots.release(queue);
    this.freed(queue);
  }

  /** Aborts work. Its slots stay taken until it returns. The lease guard discards whatever it still returns. */
  abort(ids: ReadonlySet<string>, reason: Error): void {
    for (const [{ id }, { abort }] of this.running) if (ids.has(id)) abort.abort(reason);
  }

  /** Resolves true when everything running has ended, and false after `ms` at the latest. */
  async endsWithin(ms: number): Promise<boolean> {
    if (this.running.size === 0) return true;
    let cancel = (): void => undefined;
    const grace = new Promise<false>((resolve) => {
      cancel = this.clock.at(this.clock.now() + ms, () => resolve(false));
    });
    const ended = Promise.allSettled([...this.running.values()].map(({ done }) => done)).then(() => true as const);
    return Promise.race([ended, grace]).finally(() => cancel());
  }

  /** Aborts all work. Nothing of it is committed any more. Call the result when the leases are handed back. */
  abandon(reason: Error): () => Promise<void> {
    const left = [...this.running.values()];
    this.running.clear();
    left.forEach(({ abort }) => abort.abort(reason));
    return async () => void (await Promise.all(left.map((run) => run.handedBack?.())));
  }
}
