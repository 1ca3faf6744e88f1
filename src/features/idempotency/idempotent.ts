import { applyDecorators, UseInterceptors } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';

/** Lets a route take `X-Idempotency-Key`; its handler makes things under the ids that `@Ids()` gives it. */
export const Idempotent = (): MethodDecorator =>
  applyDecorators(
    UseInterceptors(IdempotencyInterceptor),
    ApiHeader({
      name: 'X-Idempotency-Key',
      required: false,
      description:
        'Requests with the same key on the same endpoint are worked on once: for 24 hours, unless configured otherwise, they get the answer of the first ' +
        'that succeeded, and one that comes while the first still runs waits for it.',
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$', example: 'order-4711-submit' },
    }),
  );

/** The headers of an idempotent route's answer. */
export const IDEMPOTENCY_HEADERS = {
  'X-Idempotency-Replayed': {
    description: '`true` where the answer was made for an earlier request with this key',
    schema: { type: 'string' as const, enum: ['true'] },
    example: 'true',
  },
  'X-Idempotency-Mismatch': {
    description: '`true` where the key was first used with another body, whose answer this is',
    schema: { type: 'string' as const, enum: ['true'] },
    example: 'true',
  },
};
