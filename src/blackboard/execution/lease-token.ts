import { createHash } from 'node:crypto';

/**
 * What somebody outside shows who holds an execution by this lease. One lease can hold several executions, which different ones may
 * be told of: none of them finds out from theirs what another one's is.
 */
export const outsideToken = (leaseToken: string, executionId: string): string =>
  createHash('sha256').update(`${leaseToken} ${executionId}`).digest('base64url');
