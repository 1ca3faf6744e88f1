import { setTimeout } from 'node:timers/promises';
import { Refused, Unreachable } from './client-errors.js';

/** As long as a restart may take. */
const RETRY_FOR_MS = 60_000;
const RETRY_EVERY_MS = 1_000;

/** What a server answers, and proxies before it, while it restarts or is overloaded. */
const UNAVAILABLE = [502, 503, 504];

/**
 * Asks again for up to a minute while the server is away, which is said once. Only for what may be asked twice. An aborted
 * signal rejects with its reason.
 */
export async function retryWhileUnavailable<T>(ask: () => Promise<T>, say: (line: string) => void, signal?: AbortSignal): Promise<T> {
  let unavailableSince: number | null = null;
  for (;;) {
    try {
      const answer = await ask();
      if (unavailableSince !== null) say('the server is back');
      return answer;
    } catch (error) {
      signal?.throwIfAborted();
      if (!isUnavailable(error)) throw error;
      if (unavailableSince === null) say(`${error.message}; asking again for up to a minute`);
      unavailableSince ??= performance.now();
      if (performance.now() - unavailableSince > RETRY_FOR_MS) throw error;
    }
    await setTimeout(RETRY_EVERY_MS, undefined, { signal });
  }
}

/** The server is not there for now, which may change. */
export const isUnavailable = (error: unknown): error is Error => error instanceof Unreachable || (error instanceof Refused && UNAVAILABLE.includes(error.status));
