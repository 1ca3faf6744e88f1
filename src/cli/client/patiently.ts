import { setTimeout } from 'node:timers/promises';
import { Refused, Unreachable } from './client-errors.js';

/** As long as a restart may take. */
const PATIENCE_MS = 60_000;
const ASK_AGAIN_MS = 1_000;

/** What a server answers, and proxies before it, while it restarts or is overloaded. */
const AWAY = [502, 503, 504];

/**
 * Asks again for up to a minute while the server is away, which is said once. Only for what may be asked twice. An aborted
 * signal rejects with its reason.
 */
export async function patiently<T>(ask: () => Promise<T>, say: (line: string) => void, signal?: AbortSignal): Promise<T> {
  let awaySince: number | null = null;
  for (;;) {
    try {
      const answer = await ask();
      if (awaySince !== null) say('the server is back');
      return answer;
    } catch (error) {
      signal?.throwIfAborted();
      if (!isAway(error)) throw error;
      if (awaySince === null) say(`${error.message}; asking again for up to a minute`);
      awaySince ??= performance.now();
      if (performance.now() - awaySince > PATIENCE_MS) throw error;
    }
    await setTimeout(ASK_AGAIN_MS, undefined, { signal });
  }
}

/** The server is not there for now, which may change. */
export const isAway = (error: unknown): error is Error => error instanceof Unreachable || (error instanceof Refused && AWAY.includes(error.status));
