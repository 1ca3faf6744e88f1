import { createHash } from 'node:crypto';

/**
 * The token with which a client proves that it holds an execution. One lease can cover several executions that
 * different clients hold, so each execution has a different token, and a client cannot compute another client's token.
 */
export const outsideToken = (leaseToken: string, executionId: string): string =>
  createHash('sha256').update(`${leaseToken} ${executionId}`).digest('base64url');
