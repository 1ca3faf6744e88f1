import { applyDecorators } from '@nestjs/common';

import { MAX_CORRELATION_ID } from '../../../http/middleware/correlation-id.js';
import { ValidateBy } from '../../../http/validation/class-validator.js';
import { IfGiven } from '../../../http/validation/field-rules.js';
import { isVisibleAscii, visibleAsciiRule } from '../../../http/validation/text-rules.js';
import { SyncPublishRequest, Timeout } from '../../artifacts/dto/sync-publish-request.js';
import { MAX_IDEMPOTENCY_KEY } from '../../idempotency/idempotent-request.js';
import { RunRequest } from '../../runs/dto/run-request.js';

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

/** Arguments of a synchronous publish. */
export class PublishArguments extends SyncPublishRequest implements IdsOfWork {
  @CorrelationId()
  correlation_id?: string;

  @IdempotencyKey()
  idempotency_key?: string;
}

/** Arguments of a run. */
export class RunArguments extends RunRequest implements IdsOfWork {
  /** Seconds. */
  @Timeout()
  timeout?: number;

  @CorrelationId()
  correlation_id?: string;

  @IdempotencyKey()
  idempotency_key?: string;
}
