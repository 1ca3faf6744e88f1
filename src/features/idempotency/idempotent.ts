import { applyDecorators, UseInterceptors } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';

import { IdempotencyInterceptor } from './idempotency.interceptor.js';

/**
 * Lets a route take `X-Idempotency-Key`. Its handler must use the ids that `@Ids()` gives it for everything it creates.
 */
export const Idempotent = (): MethodDecorator =>
  applyDecorators(
    UseInterceptors(IdempotencyInterceptor),
    ApiHeader({
      name: 'X-Idempotency-Key',
      required: false,
      description:
        'Requests with the same key on the same endpoint are executed once. For 24 hours (unless configured ' +
        'otherwise) they get the answer of the first that succeeded. A request that comes while the first is ' +
        'running waits for it.',
      schema: {
        type: 'string',
        minLength: 1,
        maxLength: 255,
        pattern: '^[\\x21-\\x7e]+$',
        example: 'order-4711-submit',
      },
    }),
  );

/** Documents the response headers of an idempotent route. */
export const IDEMPOTENCY_HEADERS = {
  'X-Idempotency-Replayed': {
    description: '`true` where the answer was made for an earlier request with this key',
    schema: { type: 'string' as const, enum: ['true'] },
    example: 'true',
  },
  'X-Idempotency-Mismatch': {
    description: '`true` where the answer is that of an earlier request with this key and another body',
    schema: { type: 'string' as const, enum: ['true'] },
    example: 'true',
  },
};
