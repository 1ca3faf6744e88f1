import { DomainError } from '../../common/domain-error.js';
import type { IdempotentRequest } from './idempotent-request.js';
import type { RequestIds } from './request-ids.js';

/** Of memory, that a request may hold while it waits for another one. */
const MOST_HELD_BYTES = 256 * 1_024;

/**
 * What a request would do if it were the first with its key. While it waits for the one that is, its body is kept in case that one fails,
 * unless the body is large: a few of these would take all memory for as long as the first one works.
 */
export class OwnWork {
  private isGone = false;

  constructor(
    private readonly request: Pick<IdempotentRequest, 'heldBytes' | 'waits' | 'releaseBody'>,
    private readonly work: (ids: RequestIds) => Promise<unknown>,
  ) {}

  /** To be called before the request waits. DomainError `unavailable` where too many wait. */
  waits(): void {
    this.request.waits();
    if (this.isGone || this.request.heldBytes <= MOST_HELD_BYTES) return;
    this.request.releaseBody();
    this.isGone = true;
  }

  /** Rejects with what the work rejects with; DomainError `unavailable` where its body is gone. */
  async run(ids: RequestIds): Promise<unknown> {
    if (!this.isGone) return this.work(ids);
    throw new DomainError('unavailable', 'The request that this one waited for has failed, and this one was too large to be kept meanwhile; send it again');
  }
}
