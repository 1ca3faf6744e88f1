import { IsNumber, Max, Min } from 'class-validator';

import { IfGiven } from '../../../http/validation/if-given.js';
import { RunRequest } from '../../runs/dto/run-request.js';
import { CorrelationId, IdempotencyKey, type IdsOfWork } from './ids-of-work.js';

/** Arguments of a run. */
export class RunArguments extends RunRequest implements IdsOfWork {
  /** Seconds. */
  @IfGiven()
  @IsNumber()
  @Min(1)
  @Max(300)
  timeout?: number;

  @CorrelationId()
  correlation_id?: string;

  @IdempotencyKey()
  idempotency_key?: string;
}
