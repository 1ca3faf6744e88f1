/**
 * What can go wrong in the service's own terms. `http/errors/error-filter.ts` holds the one table from code to HTTP status;
 * services and the core know no HTTP.
 */
export type DomainErrorCode = 'invalid' | 'forbidden' | 'not_found' | 'conflict' | 'unavailable' | 'agent_failed';

/** Whether something cannot be done only now, and is worth another try. */
export const isUnavailable = (error: unknown): boolean => error instanceof DomainError && error.code === 'unavailable';

export class DomainError extends Error {
  constructor(
    readonly code: DomainErrorCode,
    /** One sentence that a caller can act on; it is shown to them as it is. */
    message: string,
    readonly options: { retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'DomainError';
  }
}
