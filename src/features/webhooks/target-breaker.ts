import type { Cancel, Clock } from '../../common/clock.js';

/** Number of different deliveries that must fail in succession before a target is held back. */
const FAILURES_TO_OPEN = 5;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Maximum number of targets in memory. The oldest is dropped first. */
const MOST_TARGETS = 10_000;

interface Trouble {
  /** Number of different deliveries that failed in succession. */
  failures: number;
  lastDelivery: string;
  /** Length of the last pause because of failures; 0 before the first one. */
  pauseMs: number;
  /** Nothing is sent to the target before this time (epoch ms). */
  heldUntil: number;
  cancel: Cancel;
}

/**
 * Holds back deliveries to a failing target. During a pause nothing is sent; then one delivery is sent, whose success
 * ends the pause and whose failure begins a longer one. A delivery that is held back loses no attempt. A single
 * delivery never opens the breaker, because the pauses between its attempts already protect the target. A target can
 * also be held back until a given time, because its host has received enough. Each process has a separate breaker.
 */
export class TargetBreaker {
  private readonly troubles = new Map<string, Trouble>();

  /**
   * `atOnce` is the maximum number of simultaneous deliveries to a target that works. `mayGoOn` is called when
   * deliveries to a target may continue.
   */
  constructor(
    private readonly atOnce: number,
    private readonly clock: Clock,
    private readonly mayGoOn: (queue: string) => void,
  ) {}

  /** Returns the number of simultaneous deliveries that the target may have now. */
  limitOf(queue: string): number {
    const trouble = this.troubles.get(queue);
    if (!trouble) return this.atOnce;
    if (this.clock.now() < trouble.heldUntil) return 0;
    return trouble.pauseMs === 0 ? this.atOnce : 1;
  }

  worked(queue: string): void {
    const trouble = this.troubles.get(queue);
    if (!trouble) return;
    if (trouble.pauseMs === 0 && this.clock.now() < trouble.heldUntil) {
      // The target is held back for another reason, which a success does not end.
      trouble.failures = 0;
      return;
    }
    this.forget(queue, trouble);
    this.mayGoOn(queue);
  }

  /** Holds the target back until this time (epoch ms), even if it works. */
  holdUntil(queue: string, time: number): void {
    const trouble = this.troubleOf(queue);
    if (time > trouble.heldUntil) this.hold(queue, trouble, time);
  }

  failed(queue: string, deliveryId: string): void {
    const trouble = this.troubleOf(queue);
    // Deliveries that were running when the pause began say nothing new.
    if (this.clock.now() < trouble.heldUntil) return;
    if (trouble.lastDelivery !== deliveryId) trouble.failures += 1;
    trouble.lastDelivery = deliveryId;
    if (trouble.failures < FAILURES_TO_OPEN) return;
    trouble.pauseMs = Math.min(Math.max(2 * trouble.pauseMs, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
    this.hold(queue, trouble, this.clock.now() + trouble.pauseMs);
  }

  stop(): void {
    for (const { cancel } of this.troubles.values()) cancel();
    this.troubles.clear();
  }

  private hold(queue: string, trouble: Trouble, time: number): void {
    trouble.heldUntil = time;
    trouble.cancel();
    trouble.cancel = this.clock.at(trouble.heldUntil, () => this.mayGoOn(queue));
  }

  private troubleOf(queue: string): Trouble {
    let trouble = this.troubles.get(queue);
    if (!trouble) {
      if (this.troubles.size >= MOST_TARGETS) this.forgetOldest();
      trouble = { failures: 0, lastDelivery: '', pauseMs: 0, heldUntil: 0, cancel: () => undefined };
      this.troubles.set(queue, trouble);
    }
    return trouble;
  }

  private forgetOldest(): void {
    const [queue, trouble] = this.troubles.entries().next().value!;
    this.forget(queue, trouble);
    // The target is no longer held back, and its timer was cancelled.
    if (trouble.heldUntil > 0) this.mayGoOn(queue);
  }

  private forget(queue: string, { cancel }: Trouble): void {
    cancel();
    this.troubles.delete(queue);
  }
}
