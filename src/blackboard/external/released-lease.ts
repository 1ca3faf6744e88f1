import { outsideToken } from '../execution/lease-token.js';

const RELEASED = 'released ';

/** The value of `executions.ended_lease` after a client has released the lease. */
export const releasedLease = (leaseToken: string): string => RELEASED + leaseToken;

/** Whether `endedLease` says that a client released the lease with the token `outside`. */
export const isReleased = (endedLease: string | null, executionId: string, outside: string): boolean =>
  endedLease !== null &&
  endedLease.startsWith(RELEASED) &&
  outsideToken(endedLease.slice(RELEASED.length), executionId) === outside;
