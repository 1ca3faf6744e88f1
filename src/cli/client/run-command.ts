import { setTimeout } from 'node:timers/promises';

import type { RunBody } from '../../http/dto/run-body.js';
import { abortOnSigint, INTERRUPTED } from './abort-on-sigint.js';
import { readJsonArgument } from './argument-values.js';
import { Output } from './printing/output.js';
import { retryWhileUnavailable } from './retry-while-unavailable.js';
import { type Server, serverAt } from './server.js';

const FIRST_LOOK_MS = 20;
const LOOK_MS = 1_000;

/**
 * Starts a run and prints it when it has ended, or immediately prints its id. The run always starts in the background,
 * because a synchronous call loses the run's id if its connection breaks.
 */
export async function run(
  agent: string,
  { inputs = '{}', url, async: atOnce = false }: { inputs?: string; url?: string; async?: boolean },
): Promise<void> {
  const server = serverAt(url);
  const request = { agent_name: agent, inputs: await readJsonArgument('--inputs', inputs), async_run: true };
  const { body: started } = await server.post<RunBody>('/run/flock', request);
  if (atOnce) {
    console.log(started.run_id);
    return;
  }
  const signal = abortOnSigint();
  // Printed immediately, because otherwise the run could not be found if this command is interrupted.
  console.error(`Run ${started.run_id}`);
  let ended: RunBody;
  try {
    ended = await endOf(server, started, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    console.error(`The run continues. To see its result: curl ${server.url}/run/${started.run_id}`);
    process.exitCode = INTERRUPTED;
    return;
  }
  await new Output(true).json(ended);
  process.exitCode = ended.status === 'completed' ? 0 : 1;
}

async function endOf(server: Server, started: RunBody, signal: AbortSignal): Promise<RunBody> {
  let current = started;
  for (
    let pause = FIRST_LOOK_MS;
    current.status === 'starting' || current.status === 'running';
    pause = Math.min(2 * pause, LOOK_MS)
  ) {
    await setTimeout(pause, undefined, { signal });
    current = await retryWhileUnavailable(
      () => server.get<RunBody>(`/run/${started.run_id}`, signal),
      console.error,
      signal,
    );
  }
  return current;
}
