import { setTimeout } from 'node:timers/promises';

import type { BatchBody } from '../../features/batches/dto/batch-body.js';
import type { Progress } from './progress.js';
import { retryWhileUnavailable } from './retry-while-unavailable.js';
import type { Server } from './server.js';

const FIRST_LOOK_MS = 250;
const LOOK_MS = 1_000;

export const lookAt = (server: Server, id: string, signal?: AbortSignal): Promise<BatchBody> =>
  server.get<BatchBody>(`/batch/${encodeURIComponent(id)}?results_limit=0`, signal);

/** Shows the progress of a batch until it has ended, also across a restart of the server. */
export async function watchBatch(
  server: Server,
  first: BatchBody,
  progress: Progress,
  signal: AbortSignal,
): Promise<BatchBody> {
  let batch = first;
  // The time without a server must not count in the measured speed.
  const interrupted = (line: string): void => {
    progress.say(line);
    progress.forgetThroughput();
  };
  progress.show(batch);
  for (
    let pause = FIRST_LOOK_MS;
    batch.status === 'starting' || batch.status === 'running';
    pause = Math.min(2 * pause, LOOK_MS)
  ) {
    await setTimeout(pause, undefined, { signal });
    batch = await retryWhileUnavailable(() => lookAt(server, first.batch_id, signal), interrupted, signal);
    progress.show(batch);
  }
  return batch;
}
