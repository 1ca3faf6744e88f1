import { Inject, Injectable } from '@nestjs/common';
import type { SecretBox } from '../../crypto/secret-box.js';
import { SECRET_BOX } from '../../crypto/secrets.module.js';

const PURPOSE = 'idempotent request';

/**
 * What is stored of a request's hash: a body may hold a secret, which could be guessed by the hash alone. So it is marked under the
 * service's secret key; where there is none, secrets are refused too, and the hash is stored as it is, without a dot in it.
 */
@Injectable()
export class StoredHashes {
  constructor(@Inject(SECRET_BOX) private readonly box: SecretBox | null) {}

  of(hash: string): string {
    return this.box?.mark(hash, PURPOSE) ?? hash;
  }

  /** Whether `stored` is of this hash. Of one that was stored under another key that cannot be told, and nobody is told otherwise. */
  mayBeOf(stored: string, hash: string): boolean {
    if (!stored.includes('.')) return stored === hash;
    return this.box === null || !this.box.hasSealed(stored) || stored === this.of(hash);
  }
}
