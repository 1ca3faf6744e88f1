import type { Clock } from '../common/clock.js';
import { isUnavailable } from '../common/domain-error.js';

const ASK_AGAIN_AFTER_MS = 1_000;

/**
 * Asks again while what it needs is unavailable, such as the evaluator or the database, until the signal is aborted: that is not
 * the agent's fault and must not cost an attempt.
 */
export async function onceAvailable<Result>(
  ask: () => Promise<Result>,
  clock: Clock,
  signal: AbortSignal,
): Promise<Result> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      await pause(clock, ASK_AGAIN_AFTER_MS, signal);
    }
  }
}

/** Rejects with the signal's reason as soon as the signal is aborted. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      cancel();
      reject(signal.reason as Error);
    };
    const cancel = clock.at(clock.now() + ms, () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
    signal.addEventListener('abort', abort, { once: true });
  });
}
