import { DomainError } from '../../common/domain-error.js';

const RETRY_AFTER_SECONDS = 5;

/**
 * SQLSTATE codes of errors that pass by themselves or when an operator acts. Two characters stand for a whole class.
 */
const UNAVAILABLE: Record<string, string> = {
  '08': 'its connection was lost',
  '25006': 'it is read-only',
  '25P03': 'a transaction took too long',
  '28': 'it refuses the login',
  '3D': 'it does not exist',
  '40': 'the transaction conflicted with others',
  '53': 'it has no connections, memory or disk left',
  '55P03': 'the transaction conflicted with others',
  '57': 'it is shutting down, starting, or has cancelled the query',
  '58': 'its disk is failing',
  XX: 'it has an internal error',
};

/** Codes and messages of Node's sockets and `pg` if the server does not answer. */
const UNREACHABLE =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|ENOTFOUND|EAI_AGAIN|ENOENT|EADDRNOTAVAIL)$/;
const LOST =
  /connection terminated|client has encountered a connection error|client was closed|query read timeout|timeout exceeded when trying to connect|timeout expired/i;

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/**
 * True if Postgres ended this transaction because of a deadlock or conflict. Nothing was written, and it can run again.
 */
export const wasGivenUp = (error: unknown): boolean => ['40P01', '40001'].includes(codeOf(error));

/**
 * True if a newer version has changed a table and thus the result columns of a prepared statement. The connection
 * rejects that statement from then on.
 */
export const isOutdated = (error: unknown): boolean =>
  codeOf(error) === '0A000' && (error as { routine?: unknown }).routine === 'RevalidateCachedQuery';

/** Returns a DomainError `unavailable` for an error that is not about the query itself, otherwise the same error. */
export function asDomainError(error: unknown): unknown {
  const reason = reasonOf(error);
  if (reason === null) return error;
  return new DomainError('unavailable', `The database cannot be used now: ${reason}; try again`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause: error,
  });
}

/** Returns why the database cannot be used, as part of a sentence, or null if the error has another cause. */
export function reasonOf(error: unknown): string | null {
  const code = codeOf(error);
  if (UNREACHABLE.test(code)) return 'it cannot be reached';
  if (error instanceof Error && LOST.test(error.message)) return 'its connection was lost';
  // Several addresses of one host name were tried.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return UNAVAILABLE[code] ?? (code.length === 5 ? (UNAVAILABLE[code.slice(0, 2)] ?? null) : null);
}
