import { Inject, Injectable } from '@nestjs/common';

import { DomainError } from '../../common/domain-error.js';
import { Settings } from '../../config/settings.js';
import { SealError, type SecretBox } from '../../crypto/secret-box.js';
import { SECRET_BOX } from '../../crypto/secrets.module.js';
import type { WebhookTarget } from './webhook-targets.repository.js';

/** The secrets of targets. The operator's secrets come from the settings; clients' secrets are stored sealed. */
@Injectable()
export class StoredSecrets {
  constructor(
    @Inject(SECRET_BOX) private readonly box: SecretBox | null,
    private readonly settings: Settings,
  ) {}

  /** Throws DomainError `invalid` if the service has no secret key. */
  store({ id, url, secrets }: { id: string; url: string; secrets: readonly string[] }): {
    sealed: string;
    fingerprint: string;
  } {
    if (!this.box) {
      throw new DomainError(
        'invalid',
        'webhook.secret: this service cannot store secrets; publish without a secret, or ask the operator to set STARLING_SECRET_KEY',
      );
    }
    const text = JSON.stringify(secrets);
    return { sealed: this.box.seal(text, id), fingerprint: this.box.fingerprint(`client ${url} ${text}`) };
  }

  /** Returns the secrets that sign deliveries to a target. Throws SealError if they cannot be read. */
  of({ id, by, secrets }: Pick<WebhookTarget, 'id' | 'by' | 'secrets'>): readonly string[] {
    if (by === 'operator') return this.settings.webhookSecret;
    if (secrets === null) return [];
    if (!this.box)
      throw new SealError(
        'the secret was stored with a secret_key, and this service has none; start the service with that key',
      );
    return JSON.parse(this.box.open(secrets, id)) as string[];
  }

  canRead(sealed: string): boolean {
    return this.box?.hasSealed(sealed) ?? false;
  }
}
