import { createHash } from 'node:crypto';

/**
 * The token with which a client proves that it holds an execution. One lease can cover several executions that
 * different clients hold, so each execution has a different token, and a client cannot compute another client's token.
 */
export const outsideToken = (leaseToken: string, executionId: string): string =>
  createHash('sha256').update(`${leaseToken} ${executionId}`).digest('base64url');

const RELEASED = 'released ';

/** The value of `executions.ended_lease` after a client has released the lease. */
export const releasedLease = (leaseToken: string): string => RELEASED + leaseToken;

/** Whether `endedLease` says that a client released the lease with the token `outside`. */
export const isReleased = (endedLease: string | null, executionId: string, outside: string): boolean =>
  endedLease !== null &&
  endedLease.startsWith(RELEASED) &&
  outsideToken(endedLease.slice(RELEASED.length), executionId) === outside;
