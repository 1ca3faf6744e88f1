import { DomainError } from '../../common/domain-error.js';

const RETRY_AFTER_SECONDS = 5;

/** SQLSTATE codes of what passes by itself, or when an operator has seen to it; two characters stand for their whole class. */
const UNAVAILABLE: Record<string, string> = {
  '08': 'its connection was lost',
  '25006': 'it is read-only',
  '25P03': 'a transaction took too long',
  '28': 'it refuses the login',
  '3D': 'it does not exist',
  '40': 'other transactions were in the way',
  '53': 'it has no connections, memory or disk left',
  '55P03': 'other transactions were in the way',
  '57': 'it is shutting down, starting, or has ended the query',
  '58': 'its disk is failing',
  XX: 'it has met an error of its own',
};

/** What Node's sockets and `pg` itself say when nobody answers. */
const UNREACHABLE = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|ENOTFOUND|EAI_AGAIN|ENOENT|EADDRNOTAVAIL)$/;
const LOST = /connection terminated|client has encountered a connection error|client was closed|query read timeout|timeout exceeded when trying to connect|timeout expired/i;

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/** Two transactions waited for each other, and this one was given up: nothing of it is written, and it can be run again. */
export const wasGivenUp = (error: unknown): boolean => ['40P01', '40001'].includes(codeOf(error));

/** A newer program has changed a table, and with it what a prepared statement answers. The connection never takes that statement again. */
export const isOutdated = (error: unknown): boolean =>
  codeOf(error) === '0A000' && (error as { routine?: unknown }).routine === 'RevalidateCachedQuery';

/** A DomainError `unavailable` for what says nothing about the query; everything else as it is. */
export function asDomainError(error: unknown): unknown {
  const reason = reasonOf(error);
  if (reason === null) return error;
  return new DomainError('unavailable', `The database cannot be used now: ${reason}; try again`, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
}

/** Why the database cannot be used, as part of a sentence; null where that is not what `error` says. */
export function reasonOf(error: unknown): string | null {
  const code = codeOf(error);
  if (UNREACHABLE.test(code)) return 'it cannot be reached';
  if (error instanceof Error && LOST.test(error.message)) return 'its connection was lost';
  // Several addresses of one name were tried.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return UNAVAILABLE[code] ?? (code.length === 5 ? (UNAVAILABLE[code.slice(0, 2)] ?? null) : null);
}
