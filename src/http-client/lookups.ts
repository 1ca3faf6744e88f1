import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';

import type { Cancel, Clock } from '../common/clock.js';
import { threadPoolSize } from '../config/environment.js';
import { OutboundError } from './outbound-error.js';

/** Resolves the names of outbound URLs to addresses. */
export abstract class Resolver {
  /** How many names are looked up at the same time, while others wait. */
  readonly places: number = Infinity;

  /** Returns every address of a name. Rejects like `dns.lookup`. */
  abstract resolve(name: string): Promise<LookupAddress[]>;
}

/** Uses the system's resolver, including its hosts file. */
export class SystemResolver extends Resolver {
  /** libuv reserves the other half of its threads for file access and similar work (UV__WORK_SLOW_IO). */
  override readonly places = Math.ceil(threadPoolSize() / 2);

  resolve(name: string): Promise<LookupAddress[]> {
    return lookup(name, { all: true });
  }
}

/** How long a request waits for a lookup, and then again for the connection. */
export const CONNECT_TIMEOUT_MS = 10_000;
const SLOW_MS = 1_000;
/** Shares of the resolver's places: for names whose last lookup was slow, and for these together with unknown names. */
const SLOW_SHARE = 1 / 4;
const UNPROVEN_SHARE = 3 / 4;
/** The maximum number of names whose last lookup is remembered. The oldest one is forgotten first. */
const MOST_NAMES = 10_000;

/** Frees the place of a lookup that has ended. */
type Release = () => void;

interface Waiting {
  begin: (release: Release) => void;
  giveUp: (error: Error) => void;
  cancel: Cancel;
}

/**
 * Looks up names. The resolver has a few places and cannot cancel a lookup, and a name whose server does not answer
 * occupies a place for many seconds. So concurrent requests for the same name share a lookup, and names whose last
 * lookup was slow, or that were never looked up, get only some of the places: a name that was answered quickly always
 * finds a place.
 */
export class Lookups {
  private readonly underWay = new Map<string, Promise<LookupAddress[]>>();
  private readonly waiting = new Map<string, Waiting>();
  /** Result of the last lookup of each name, oldest first: when it ended (epoch ms) if it was slow, otherwise null. */
  private readonly slowUntil = new Map<string, number | null>();
  private readonly most: { slow: number; unproven: number };
  private readonly running = { slow: 0, unproven: 0 };

  /** `patienceMs`: how long a caller waits for a place. */
  constructor(
    private readonly resolver: Resolver,
    private readonly clock: Clock,
    private readonly patienceMs: number,
  ) {
    const part = (share: number): number => Math.max(1, Math.floor(resolver.places * share));
    this.most = { slow: part(SLOW_SHARE), unproven: part(UNPROVEN_SHARE) };
  }

  /** Rejects like the resolver, or with an OutboundError if the name got no place in time. */
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

  /** Unknown names come first, then the name whose last lookup is the oldest, so that each name gets its turn. */
  private next(): string | undefined {
    if (this.running.unproven >= this.most.unproven) return undefined;
    const takesSlow = this.running.slow < this.most.slow;
    const since = (name: string): number => this.slowUntil.get(name) ?? 0;
    return [...this.waiting.keys()]
      .filter((name) => takesSlow || !this.slowUntil.has(name))
      .sort((a, b) => since(a) - since(b))[0];
  }

  // Each new caller extends the wait, so it ends when the last caller gives up.
  private keepWaiting(name: string): void {
    const waiting = this.waiting.get(name);
    if (!waiting) return;
    waiting.cancel();
    waiting.cancel = this.clock.at(this.clock.now() + this.patienceMs, () => {
      this.waiting.delete(name);
      waiting.giveUp(
        new OutboundError(
          `${name}: its name could not be looked up in time, because lookups of other names take too long`,
        ),
      );
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
