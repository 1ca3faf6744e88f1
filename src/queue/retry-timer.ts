import { BackgroundLoop } from '../common/background-loop.js';
import type { Clock } from '../common/clock.js';
import type { Logger } from '../common/logger.js';
import type { UnitOfWork } from '../database/unit-of-work.js';
import type { QueuedRow } from './queue.js';
import type { RowClaims } from './row-claims.js';

const RELEASE_AGAIN_AFTER_MS = 1_000;

/**
 * Returns a loop that makes retries claimable when they are due. `returned` is called after the commit for each queue
 * that has something to claim again.
 */
export function retryTimer<Row extends QueuedRow, Input>(
  claims: RowClaims<Row, Input>,
  returned: (queue: string) => void,
  clock: Clock,
  unitOfWork: UnitOfWork,
  logger: Logger,
): BackgroundLoop {
  const release = async (): Promise<number | null> => {
    const queues = await unitOfWork.run((tx) => claims.releaseRetries(tx, clock.now()));
    queues.forEach((queue) => returned(queue));
    return claims.nextRetry(unitOfWork.reader);
  };
  return new BackgroundLoop(release, {
    clock,
    logger,
    failure: 'retries could not be released',
    backOffMs: RELEASE_AGAIN_AFTER_MS,
  });
}
