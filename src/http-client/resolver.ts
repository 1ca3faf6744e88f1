import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { threadPoolSize } from '../config/environment.js';

/** How the names of outbound URLs become addresses. */
export abstract class Resolver {
  /** How many names are looked up at once, while others wait. */
  readonly places: number = Infinity;

  /** Every address of a name. Rejects as `dns.lookup` does. */
  abstract resolve(name: string): Promise<LookupAddress[]>;
}

/** The system's own way, with its hosts file. */
export class SystemResolver extends Resolver {
  /** libuv leaves the other half of its threads to files and the like (UV__WORK_SLOW_IO). */
  override readonly places = Math.ceil(threadPoolSize() / 2);

  resolve(name: string): Promise<LookupAddress[]> {
    return lookup(name, { all: true });
  }
}
