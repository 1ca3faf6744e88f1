import type { IncomingMessage } from 'node:http';
import { MemoryBudget } from '../../common/memory-budget.js';

/** Of the budget: requests that do not wait need the rest. */
const SHARE_OF_BUDGET = 1 / 2;

const REFUSAL = 'The service has no memory for more requests that wait now; try again';

/** What Node, Nest and a handler keep of a request that waits, without its headers and its body. Synchronous publishes take the most. */
const REQUEST_BYTES = 24 * 1_024;

/** Beside its characters. */
const STRING_BYTES = 40;

/** The memory of requests that wait: each takes some, however little its client has sent. */
export class WaitingRequests {
  private readonly share: MemoryBudget;

  constructor(private readonly budget: MemoryBudget) {
    const limit = Math.floor(budget.limitBytes * SHARE_OF_BUDGET);
    this.share = new MemoryBudget(limit, limit, REFUSAL);
  }

  /** Returns what gives it back, to be called once. DomainError `unavailable` where there is too little. */
  hold(request: IncomingMessage): () => void {
    const bytes = bytesOf(request);
    const ofShare = this.share.reserve(bytes);
    try {
      const held = this.budget.reserve(bytes);
      return () => {
        held.release();
        ofShare.release();
      };
    } catch (error) {
      ofShare.release();
      throw error;
    }
  }
}

function bytesOf({ rawHeaders, url }: IncomingMessage): number {
  return rawHeaders.reduce((bytes, text) => bytes + text.length + STRING_BYTES, REQUEST_BYTES + url!.length);
}
