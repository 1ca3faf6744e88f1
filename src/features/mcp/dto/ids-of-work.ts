import { applyDecorators } from '@nestjs/common';
import { ValidateBy } from 'class-validator';

import { MAX_CORRELATION_ID } from '../../../http/middleware/correlation-id.js';
import { IfGiven } from '../../../http/validation/if-given.js';
import { isVisibleAscii, visibleAsciiRule } from '../../../http/validation/visible-ascii.js';
import { MAX_IDEMPOTENCY_KEY } from '../../idempotency/idempotent-request.js';

const VisibleAscii = (maxLength: number): PropertyDecorator =>
  applyDecorators(
    IfGiven(),
    ValidateBy({
      name: 'isVisibleAscii',
      validator: {
        validate: (value) => isVisibleAscii(value, maxLength),
        defaultMessage: () => visibleAsciiRule(maxLength),
      },
    }),
  );

/** Validates the arguments that stand for the headers `X-Correlation-ID` and `X-Idempotency-Key` of REST. */
export const CorrelationId = (): PropertyDecorator => VisibleAscii(MAX_CORRELATION_ID);
export const IdempotencyKey = (): PropertyDecorator => VisibleAscii(MAX_IDEMPOTENCY_KEY);

export interface IdsOfWork {
  correlation_id?: string;
  idempotency_key?: string;
}
