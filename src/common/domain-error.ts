/**
 * The kinds of errors that the service distinguishes. Only `http/errors/error-filter.ts` maps a code to an HTTP status;
 * services and the core do not depend on HTTP.
 */
export type DomainErrorCode = 'invalid' | 'forbidden' | 'not_found' | 'conflict' | 'unavailable' | 'agent_failed';

/** Whether the failure is temporary, so the caller may try again. */
export const isUnavailable = (error: unknown): boolean => error instanceof DomainError && error.code === 'unavailable';

export class DomainError extends Error {
  constructor(
    readonly code: DomainErrorCode,
    /** One sentence that a caller can act on. It is shown to callers unchanged. */
    message: string,
    readonly options: { retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'DomainError';
  }
}
