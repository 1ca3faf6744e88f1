import { Inject, Injectable } from '@nestjs/common';

import type { SecretBox } from '../../crypto/secret-box.js';
import { SECRET_BOX } from '../../crypto/secrets.module.js';

const PURPOSE = 'idempotent request';

/**
 * Makes the form in which request hashes are stored. A body may contain a secret, which could be guessed from a plain
 * hash, so the hash is marked with the service's secret key. Without a secret key the service refuses secrets, and
 * stores the plain hash, which contains no dot.
 */
@Injectable()
export class StoredHashes {
  constructor(@Inject(SECRET_BOX) private readonly box: SecretBox | null) {}

  of(hash: string): string {
    return this.box?.mark(hash, PURPOSE) ?? hash;
  }

  /**
   * Whether `stored` may be this hash. True also if it was stored with another secret key: it cannot be compared
   * then, and a mismatch must not be reported without proof.
   */
  mayBeOf(stored: string, hash: string): boolean {
    if (!stored.includes('.')) return stored === hash;
    return this.box === null || !this.box.hasSealed(stored) || stored === this.of(hash);
  }
}
