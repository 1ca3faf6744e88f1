import type { APICallError, StreamProviderError } from 'ai';

import { scheduler } from '../../common/scheduler.js';
import { answerTooLargeIn } from '../../http-client/bounded-answer.js';
import { outboundErrorIn } from '../../http-client/outbound-error.js';
import { retryAfter } from '../../http-client/retry-after.js';
import { EngineFailure } from '../engine-answers.js';
import type { ModelSource } from './model-providers.js';
import { withoutKey } from './without-key.js';

const LONGEST_REASON = 500;

/** Describes a failed model call as an EngineFailure, without the key. */
export function describeModelError(error: unknown, source: ModelSource): EngineFailure {
  if (error instanceof EngineFailure) return error;
  const tooLarge = answerTooLargeIn(error);
  if (tooLarge) return new EngineFailure('output', `${source.provider} sent too much: ${tooLarge.message}`);
  const { statusCode, responseHeaders } = (error ?? {}) as Partial<APICallError & StreamProviderError>;
  const reason = withoutKey(reasonOf(error) || 'it gave no reason', source).slice(0, LONGEST_REASON);
  if (isKeyMissing(error))
    return new EngineFailure('model', `the key of ${source.provider} is missing: ${reason}`, { isFinal: true });
  // A provider's message about a wrong key may quote parts of it, so it is left out.
  if (statusCode === 401 || statusCode === 403)
    return new EngineFailure('model', `${source.provider} refuses the key in ${source.keyVariable} (${statusCode})`);
  if (statusCode === 429)
    return new EngineFailure('rate_limit', `${source.provider} answered 429: ${reason}`, {
      retryAfterMs: waitOf(responseHeaders),
    });
  if (statusCode !== undefined)
    return new EngineFailure('model', `${source.provider} answered ${statusCode}: ${reason}`, {
      retryAfterMs: waitOf(responseHeaders),
    });
  return new EngineFailure('model', `${source.provider} sent no complete answer: ${reason}`, {
    isFinal: isRefused(error),
  });
}

/** True if no request may go to the address, so the configuration or its DNS entry must change first. */
export const isRefused = (error: unknown): boolean => outboundErrorIn(error)?.isRefused === true;

/**
 * True for the error of a provider package without a key; it may look for the key elsewhere than in `keyVariable`. The
 * check is by name, because the package may have its own copy of the class.
 */
const isKeyMissing = (error: unknown): boolean => (error as Partial<Error> | null)?.name === 'AI_LoadAPIKeyError';

/**
 * For an error before the answer began: true if the model cannot have generated anything, because the request was not
 * sent or the provider answered with an error. If the connection was lost after the request was sent, that is unknown.
 */
export function hasGeneratedNothing(error: unknown): boolean {
  const { statusCode } = (error ?? {}) as Partial<APICallError>;
  if (statusCode !== undefined) return statusCode < 200 || statusCode > 299;
  return isKeyMissing(error) || outboundErrorIn(error) !== undefined || isUnconnected(error);
}

const UNCONNECTED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|(ERR_TLS|ERR_SSL|CERT|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO)_.*)$/;

function isUnconnected(error: unknown): boolean {
  const { cause, code, syscall, errors } = (error ?? {}) as {
    cause?: unknown;
    code?: unknown;
    syscall?: unknown;
    errors?: unknown;
  };
  if (syscall === 'connect' || (typeof code === 'string' && UNCONNECTED.test(code))) return true;
  const within = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  return within !== undefined && within !== error && isUnconnected(within);
}

/**
 * Returns the message of the innermost cause. The SDKs and undici wrap the original error, sometimes once for each
 * address.
 */
export function reasonOf(error: unknown): string {
  if (typeof error === 'string') return error;
  const { cause, errors, message } = (error ?? {}) as { cause?: unknown; errors?: unknown; message?: unknown };
  const within = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  const inner = within === undefined || within === error ? '' : reasonOf(within);
  return inner || (typeof message === 'string' ? message : '');
}

/** Milliseconds from now. Uses the server's clock if its answer has a date. */
function waitOf({ 'retry-after': header, date = '' }: Record<string, string> = {}): number | undefined {
  const now = Date.parse(date) || scheduler.time();
  const notBefore = retryAfter(header, now);
  return notBefore === null ? undefined : notBefore - now;
}
