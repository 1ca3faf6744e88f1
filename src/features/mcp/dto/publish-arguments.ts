import { SyncPublishRequest } from '../../artifacts/dto/sync-publish-request.js';
import { CorrelationId, IdempotencyKey, type IdsOfWork } from './ids-of-work.js';

/** Arguments of a synchronous publish. */
export class PublishArguments extends SyncPublishRequest implements IdsOfWork {
  @CorrelationId()
  correlation_id?: string;

  @IdempotencyKey()
  idempotency_key?: string;
}
