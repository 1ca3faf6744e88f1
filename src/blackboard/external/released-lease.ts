import { outsideToken } from '../execution/lease-token.js';

const RELEASED = 'released ';

/** What is kept, as `executions.ended_lease`, of a lease that was given back. */
export const releasedLease = (leaseToken: string): string => RELEASED + leaseToken;

/** Whether this is kept of a lease that somebody outside had by this token. */
export const isReleased = (endedLease: string | null, executionId: string, outside: string): boolean =>
  endedLease !== null && endedLease.startsWith(RELEASED) && outsideToken(endedLease.slice(RELEASED.length), executionId) === outside;
