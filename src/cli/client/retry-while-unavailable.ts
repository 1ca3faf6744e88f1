import { setTimeout } from 'node:timers/promises';

import { Refused, Unreachable } from './client-errors.js';

/** The longest time that a restart may take. */
const RETRY_FOR_MS = 60_000;
const RETRY_EVERY_MS = 1_000;

/** Statuses of a server, or of a proxy in front of it, while the server restarts or is overloaded. */
const UNAVAILABLE = [502, 503, 504];

/**
 * Retries for up to a minute while the server is unavailable, and reports that once. Only for requests that may be
 * repeated. Rejects with the signal's reason if the signal aborts.
 */
export async function retryWhileUnavailable<T>(
  ask: () => Promise<T>,
  say: (line: string) => void,
  signal?: AbortSignal,
): Promise<T> {
  let unavailableSince: number | null = null;
  for (;;) {
    try {
      const answer = await ask();
      if (unavailableSince !== null) say('the server is available again');
      return answer;
    } catch (error) {
      signal?.throwIfAborted();
      if (!isUnavailable(error)) throw error;
      if (unavailableSince === null) say(`${error.message}; retrying for up to a minute`);
      unavailableSince ??= performance.now();
      if (performance.now() - unavailableSince > RETRY_FOR_MS) throw error;
    }
    await setTimeout(RETRY_EVERY_MS, undefined, { signal });
  }
}

/** Whether the error means that the server is temporarily unavailable. */
export const isUnavailable = (error: unknown): error is Error =>
  error instanceof Unreachable || (error instanceof Refused && UNAVAILABLE.includes(error.status));
