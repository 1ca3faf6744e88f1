import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';

import { threadPoolSize } from '../config/environment.js';

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
