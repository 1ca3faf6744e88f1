import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';

/** How the names of outbound URLs become addresses. */
export abstract class Resolver {
  /** Every address of a name. Rejects as `dns.lookup` does. */
  abstract resolve(name: string): Promise<LookupAddress[]>;
}

/** The system's own way, with its hosts file. */
export class SystemResolver extends Resolver {
  resolve(name: string): Promise<LookupAddress[]> {
    return lookup(name, { all: true });
  }
}
