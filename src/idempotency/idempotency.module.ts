import { Module } from '@nestjs/common';
import { BlackboardModule } from '../blackboard/blackboard.module.js';
import { ExpiredKeys } from './expired-keys.js';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';
import { IdempotencyService } from './idempotency.service.js';
import { Reservations } from './reservations.js';

/** Idempotency keys; a feature whose routes carry `@Idempotent()` imports it. */
@Module({
  imports: [BlackboardModule],
  providers: [ExpiredKeys, IdempotencyKeysRepository, IdempotencyService, Reservations],
  exports: [IdempotencyService],
})
export class IdempotencyModule {}
