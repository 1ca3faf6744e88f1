import type { Clock } from '../common/clock.js';
import { isUnavailable } from '../common/domain-error.js';
import type { ClaimHolder } from './claimant.js';

const COMMIT_AGAIN_AFTER_MS = 1_000;

/**
 * Commits an outcome, and retries while the database cannot be written to: the work is done, so its outcome must not be
 * lost. Returns `discarded` if another process has the claim now. Rejects with any other error of `commit`.
 */
export async function commitWithRetry<T>(
  holder: ClaimHolder,
  clock: Clock,
  commit: () => Promise<T>,
): Promise<T | 'discarded'> {
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
