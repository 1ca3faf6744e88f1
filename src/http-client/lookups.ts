import type { LookupAddress } from 'node:dns';
import type { Cancel, Clock } from '../common/clock.js';
import { OutboundError } from './outbound-error.js';
import type { Resolver } from './resolver.js';

/** How long those who connect wait for a lookup, and then for the connection. */
export const CONNECT_TIMEOUT_MS = 10_000;
const SLOW_MS = 1_000;
/** Of the places that the resolver has: for names that were slow last, and for these and names that were never looked up. */
const SLOW_SHARE = 1 / 4;
const UNPROVEN_SHARE = 3 / 4;
/** Names of which is remembered how they were looked up; the one that was longest ago is forgotten first. */
const MOST_NAMES = 10_000;

/** What lets others have the place of a lookup that has ended. */
type Release = () => void;

interface Waiting {
  begin: (release: Release) => void;
  giveUp: (error: Error) => void;
  cancel: Cancel;
}

/**
 * Looks up names. The resolver has a few places and gives no lookup up, and a name that no server answers for keeps its place for many
 * seconds. So those who ask for the same name at once share its lookup, and only a part of the places is for names that were slow last,
 * or that nothing is known of: one that was answered quickly always finds a place.
 */
export class Lookups {
  private readonly underWay = new Map<string, Promise<LookupAddress[]>>();
  private readonly waiting = new Map<string, Waiting>();
  /** How names were looked up last, in the order of that: when it ended (epoch ms) where it was slow, else null. */
  private readonly slowUntil = new Map<string, number | null>();
  private readonly most: { slow: number; unproven: number };
  private readonly running = { slow: 0, unproven: 0 };

  /** `patienceMs`: how long those who ask wait. */
  constructor(
    private readonly resolver: Resolver,
    private readonly clock: Clock,
    private readonly patienceMs: number,
  ) {
    const part = (share: number): number => Math.max(1, Math.floor(resolver.places * share));
    this.most = { slow: part(SLOW_SHARE), unproven: part(UNPROVEN_SHARE) };
  }

  /** Rejects as the resolver does; OutboundError where the name has got no place while somebody waited. */
  addressesOf(name: string): Promise<LookupAddress[]> {
    let lookup = this.underWay.get(name);
    if (!lookup) {
      lookup = this.placeFor(name)
        .then((release) => this.lookUp(name).finally(release))
        .finally(() => this.underWay.delete(name));
      this.underWay.set(name, lookup);
    }
    this.keepWaiting(name);
    return lookup;
  }

  private placeFor(name: string): Promise<Release> {
    if (this.slowUntil.get(name) === null) return Promise.resolve(() => undefined);
    const { promise, resolve, reject } = Promise.withResolvers<Release>();
    this.waiting.set(name, { begin: resolve, giveUp: reject, cancel: () => undefined });
    this.beginSome();
    return promise;
  }

  private beginSome(): void {
    for (let name = this.next(); name !== undefined; name = this.next()) {
      const { begin, cancel } = this.waiting.get(name)!;
      this.waiting.delete(name);
      cancel();
      const slow = this.slowUntil.has(name) ? 1 : 0;
      this.running.slow += slow;
      this.running.unproven += 1;
      begin(() => {
        this.running.slow -= slow;
        this.running.unproven -= 1;
        this.beginSome();
      });
    }
  }

  /** Names that nothing is known of come first, then the one whose last lookup was longest ago, so that each has its turn. */
  private next(): string | undefined {
    if (this.running.unproven >= this.most.unproven) return undefined;
    const takesSlow = this.running.slow < this.most.slow;
    const since = (name: string): number => this.slowUntil.get(name) ?? 0;
    return [...this.waiting.keys()].filter((name) => takesSlow || !this.slowUntil.has(name)).sort((a, b) => since(a) - since(b))[0];
  }

  // Nobody waits any more when the last who asked has lost patience.
  private keepWaiting(name: string): void {
    const waiting = this.waiting.get(name);
    if (!waiting) return;
    waiting.cancel();
    waiting.cancel = this.clock.at(this.clock.now() + this.patienceMs, () => {
      this.waiting.delete(name);
      waiting.giveUp(new OutboundError(`${name}: its name could not be looked up in time, behind others that no name server answers for`));
    });
  }

  private async lookUp(name: string): Promise<LookupAddress[]> {
    const began = this.clock.now();
    try {
      return await this.resolver.resolve(name);
    } finally {
      const now = this.clock.now();
      this.slowUntil.delete(name);
      if (this.slowUntil.size >= MOST_NAMES) this.slowUntil.delete(this.slowUntil.keys().next().value!);
      this.slowUntil.set(name, now - began >= SLOW_MS ? now : null);
    }
  }
}
