import type { APICallError, StreamProviderError } from 'ai';
import type { ModelSource } from './model-providers.js';

/** Why an attempt got no answer that it can use. `name` is what the WorkflowError calls its `error_type`. */
export class ModelFailure extends Error {
  constructor(
    type: 'model' | 'rate_limit' | 'refusal' | 'output' | 'tool',
    message: string,
    /** Before then (ms from now), another attempt would get the same answer. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
    this.name = type;
  }
}

const LONGEST_REASON = 500;

/** What went wrong between here and the model, in words that hold no key. */
export function describeModelError(error: unknown, source: ModelSource): ModelFailure {
  if (error instanceof ModelFailure) return error;
  const { statusCode, responseHeaders } = (error ?? {}) as Partial<APICallError & StreamProviderError>;
  const reason = withoutKey(reasonOf(error) || 'it gave no reason', source).slice(0, LONGEST_REASON);
  // What a provider says of a wrong key may quote parts of it.
  if (statusCode === 401 || statusCode === 403) return new ModelFailure('model', `${source.provider} refuses the key in ${source.keyVariable} (${statusCode})`);
  if (statusCode === 429) return new ModelFailure('rate_limit', `${source.provider} answered 429: ${reason}`, retryAfter(responseHeaders));
  if (statusCode !== undefined) return new ModelFailure('model', `${source.provider} answered ${statusCode}: ${reason}`, retryAfter(responseHeaders));
  return new ModelFailure('model', `no whole answer came from ${source.provider}: ${reason}`);
}

/** Whatever a server sends back, the key does not go on from here. */
export const withoutKey = (text: string, { key }: ModelSource): string => (key === undefined ? text : text.replaceAll(key, '[key]'));

/** The message of the innermost cause that has one: the SDK and undici each wrap what happened. */
function reasonOf(error: unknown): string {
  if (typeof error === 'string') return error;
  const { cause, message } = (error ?? {}) as { cause?: unknown; message?: unknown };
  const inner = cause === undefined || cause === error ? '' : reasonOf(cause);
  return inner || (typeof message === 'string' ? message : '');
}

/** RFC 9110, section 10.2.3: seconds, or a date; by the server's own clock. */
function retryAfter(headers: Record<string, string> | undefined): number | undefined {
  const value = headers?.['retry-after'];
  if (value === undefined) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.parse(headers?.date ?? '');
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
