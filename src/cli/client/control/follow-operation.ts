import { setTimeout } from 'node:timers/promises';

import type { OperationBody } from '../../../features/operations/dto/operation-body.js';
import { progressOf } from '../progress.js';
import { retryWhileUnavailable } from '../retry-while-unavailable.js';
import type { Server } from '../server.js';

const FIRST_LOOK_MS = 20;
const LOOK_MS = 1_000;

/** Shows the progress of an operation until it has ended, also across a restart of the server. */
export async function followOperation(
  server: Server,
  started: OperationBody,
  signal: AbortSignal,
): Promise<OperationBody> {
  const progress = progressOf('executions');
  let operation = started;
  try {
    for (let pause = FIRST_LOOK_MS; operation.state === 'running'; pause = Math.min(2 * pause, LOOK_MS)) {
      progress.show(countsOf(operation));
      await setTimeout(pause, undefined, { signal });
      operation = await retryWhileUnavailable(
        () => server.get<OperationBody>(`/api/v1/operations/${started.operation_id}`, signal),
        (line) => progress.say(line),
        signal,
      );
    }
    if (operation.matched > 0) progress.show(countsOf(operation));
  } finally {
    progress.end();
  }
  return operation;
}

const countsOf = ({ matched, done, failed }: OperationBody) => ({
  total_items: matched,
  completed_items: done + failed,
  failed_items: failed,
  progress_percentage: matched === 0 ? 100 : (100 * (done + failed)) / matched,
});
