import type { Cancel, Clock } from '../../common/clock.js';

/** Tries of different deliveries that fail one after another before a target is held back. */
const FAILURES_TO_OPEN = 5;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Targets that are remembered; the oldest is forgotten first. */
const MOST_TARGETS = 10_000;

interface Trouble {
  /** Of different deliveries, one after another. */
  failures: number;
  lastDelivery: string;
  /** How long the target was held back last because it failed; 0 where it was not. */
  pauseMs: number;
  /** Until then nothing is sent to it (epoch ms). */
  heldUntil: number;
  cancel: Cancel;
}

/**
 * Holds back what goes to a target that fails: nothing for a while, which grows, then one delivery, whose success ends it. Being held
 * back is no try. One delivery alone never makes a target held back, since the pauses between its tries spare that already.
 * A target may also be held back until a given time, because its host has been sent enough. Each process finds out for itself.
 */
export class TargetBreaker {
  private readonly troubles = new Map<string, Trouble>();

  /** `atOnce`: how many deliveries may be on their way to a target that works. `mayGoOn`: a target may be sent something again. */
  constructor(
    private readonly atOnce: number,
    private readonly clock: Clock,
    private readonly mayGoOn: (queue: string) => void,
  ) {}

  /** How many deliveries may be on their way to the target now. */
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
      // Held back for another reason, which what was still on its way does not end.
      trouble.failures = 0;
      return;
    }
    this.forget(queue, trouble);
    this.mayGoOn(queue);
  }

  /** Nothing is to be sent to the target before (epoch ms), however well it works. */
  holdUntil(queue: string, time: number): void {
    const trouble = this.troubleOf(queue);
    if (time > trouble.heldUntil) this.hold(queue, trouble, time);
  }

  failed(queue: string, deliveryId: string): void {
    const trouble = this.troubleOf(queue);
    // What was on its way when the target was found to fail says nothing new.
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
    // Held back no more, and nothing else would say so.
    if (trouble.heldUntil > 0) this.mayGoOn(queue);
  }

  private forget(queue: string, { cancel }: Trouble): void {
    cancel();
    this.troubles.delete(queue);
  }
}
