import type { Cancel, Clock } from '../common/clock.js';

/** Tries of different deliveries that fail one after another before an origin is held back. */
const FAILURES_TO_OPEN = 5;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Origins that are remembered; the oldest is forgotten first. */
const MOST_ORIGINS = 10_000;

interface Trouble {
  /** Of different deliveries, one after another. */
  failures: number;
  lastDelivery: string;
  /** How long the origin was held back last; 0 where it never was. */
  pauseMs: number;
  /** Until then nothing is sent to it (epoch ms). */
  heldUntil: number;
  cancel: Cancel;
}

/**
 * Holds back what goes to an origin that fails: nothing for a while, which grows, then one delivery, whose success ends it. Being held
 * back is no try. One delivery alone never makes an origin held back, since the pauses between its tries spare that already.
 * Each process finds out for itself.
 */
export class OriginBreaker {
  private readonly troubles = new Map<string, Trouble>();

  /** `atOnce`: how many deliveries may be on their way to an origin that works. `mayGoOn`: an origin may be sent something again. */
  constructor(
    private readonly atOnce: number,
    private readonly clock: Clock,
    private readonly mayGoOn: (origin: string) => void,
  ) {}

  /** How many deliveries may be on their way to the origin now. */
  limitOf(origin: string): number {
    const trouble = this.troubles.get(origin);
    if (!trouble || trouble.pauseMs === 0) return this.atOnce;
    return this.clock.now() < trouble.heldUntil ? 0 : 1;
  }

  worked(origin: string): void {
    const trouble = this.troubles.get(origin);
    if (!trouble) return;
    this.forget(origin, trouble);
    this.mayGoOn(origin);
  }

  failed(origin: string, deliveryId: string): void {
    const trouble = this.troubleOf(origin);
    // What was on its way when the origin was found to fail says nothing new.
    if (this.clock.now() < trouble.heldUntil) return;
    if (trouble.lastDelivery !== deliveryId) trouble.failures += 1;
    trouble.lastDelivery = deliveryId;
    if (trouble.failures >= FAILURES_TO_OPEN) this.hold(origin, trouble);
  }

  stop(): void {
    for (const { cancel } of this.troubles.values()) cancel();
    this.troubles.clear();
  }

  private hold(origin: string, trouble: Trouble): void {
    trouble.pauseMs = Math.min(Math.max(2 * trouble.pauseMs, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
    trouble.heldUntil = this.clock.now() + trouble.pauseMs;
    trouble.cancel();
    trouble.cancel = this.clock.at(trouble.heldUntil, () => this.mayGoOn(origin));
  }

  private troubleOf(origin: string): Trouble {
    let trouble = this.troubles.get(origin);
    if (!trouble) {
      if (this.troubles.size >= MOST_ORIGINS) this.forget(...this.troubles.entries().next().value!);
      trouble = { failures: 0, lastDelivery: '', pauseMs: 0, heldUntil: 0, cancel: () => undefined };
      this.troubles.set(origin, trouble);
    }
    return trouble;
  }

  private forget(origin: string, { cancel }: Trouble): void {
    cancel();
    this.troubles.delete(origin);
  }
}
