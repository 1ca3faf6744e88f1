import type { Clock } from '../common/clock.js';
import { isUnavailable } from '../common/domain-error.js';
import type { ClaimHolder } from './claiming-loop.js';

const COMMIT_AGAIN_AFTER_MS = 1_000;

/**
 * Commits an outcome, and where the database cannot be written to now, again and again: what was done is done, and its outcome waits.
 * `discarded` once the claim is no longer ours. Rejects with whatever else `commit` rejects with.
 */
export async function commitWithRetry<T>(holder: ClaimHolder, clock: Clock, commit: () => Promise<T>): Promise<T | 'discarded'> {
  while (holder.isOurs()) {
    try {
      return await commit();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      await clock.sleep(COMMIT_AGAIN_AFTER_MS);
    }
  }
  return 'discarded';
}
