import type { IncomingMessage } from 'node:http';

import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';

import { MemoryBudget } from '../../common/memory-budget.js';

/** The share of the budget for waiting requests. Other requests need the rest. */
const SHARE_OF_BUDGET = 1 / 2;

const REFUSAL = 'The service has no memory for more waiting requests now; try again';

/**
 * Memory that Node, Nest and a handler keep for a waiting request, without its headers and body. Synchronous publishes
 * take the most.
 */
const REQUEST_BYTES = 24 * 1_024;

/** Memory of a string besides its characters. */
const STRING_BYTES = 40;

/** Reserves the memory of waiting requests: each takes some, even if its client sent very little. */
export class WaitingRequests {
  private readonly share: MemoryBudget;

  constructor(private readonly budget: MemoryBudget) {
    const limit = Math.floor(budget.limitBytes * SHARE_OF_BUDGET);
    this.share = new MemoryBudget(limit, limit, REFUSAL);
  }

  /**
   * Returns a function that releases the memory; call it once. Throws a DomainError `unavailable` if there is too
   * little.
   */
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

/**
 * An AbortSignal for a handler that lets its client wait. It aborts when the response closes, also after a complete
 * answer.
 */
export const ClientGone = createParamDecorator((_data: unknown, context: ExecutionContext): AbortSignal => {
  const gone = new AbortController();
  const response = context.switchToHttp().getResponse<Response>();
  if (response.closed) gone.abort();
  else response.once('close', () => gone.abort());
  return gone.signal;
});
