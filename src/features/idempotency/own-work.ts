import { DomainError } from '../../common/domain-error.js';
import type { IdempotentRequest } from './idempotent-request.js';
import type { RequestIds } from './request-ids.js';

/** Maximum memory that a request may hold while it waits for another one. */
const MOST_HELD_BYTES = 256 * 1_024;

/**
 * The work of a request that may not be the first with its key. While it waits for the first one, its body is kept in
 * case that one fails. Large bodies are dropped, because a few of them would take all memory while the first request
 * runs.
 */
export class OwnWork {
  private isGone = false;

  constructor(
    private readonly request: Pick<IdempotentRequest, 'heldBytes' | 'waits' | 'releaseBody'>,
    private readonly work: (ids: RequestIds) => Promise<unknown>,
  ) {}

  /** Must be called before the request waits. Throws DomainError `unavailable` where too many requests wait. */
  waits(): void {
    this.request.waits();
    if (this.isGone || this.request.heldBytes <= MOST_HELD_BYTES) return;
    this.request.releaseBody();
    this.isGone = true;
  }

  /** Rejects with the error of the work, or with DomainError `unavailable` where the body was dropped. */
  async run(ids: RequestIds): Promise<unknown> {
    if (!this.isGone) return this.work(ids);
    throw new DomainError(
      'unavailable',
      'The first request with this idempotency key has failed, and this one was too large to keep; send it again',
    );
  }
}
