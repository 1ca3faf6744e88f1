import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { SecretsModule } from '../../crypto/secrets.module.js';
import { ExpiredKeys } from './expired-keys.js';
import { IdempotencyService } from './idempotency.service.js';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';
import { KeyReservations } from './key-reservations.js';
import { StoredHashes } from './stored-hashes.js';

/** Idempotency keys. Features with `@Idempotent()` routes import it. */
@Module({
  imports: [BlackboardModule, SecretsModule],
  providers: [ExpiredKeys, IdempotencyKeysRepository, IdempotencyService, KeyReservations, StoredHashes],
  exports: [IdempotencyService],
})
export class IdempotencyModule {}
