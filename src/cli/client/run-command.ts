import type { RunBody } from '../../http/dto/run-body.js';
import { abortOnSigint, INTERRUPTED } from './abort-on-sigint.js';
import { readJsonArgument } from './argument-values.js';
import { Output } from './printing/output.js';
import { serverAt } from './server.js';
import { untilEnded } from './until-ended.js';

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
    ended = await untilEnded<RunBody>(server, `/run/${started.run_id}`, isOpen, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    console.error(`The run continues. To see its result: curl ${server.url}/run/${started.run_id}`);
    process.exitCode = INTERRUPTED;
    return;
  }
  await new Output(true).json(ended);
  process.exitCode = ended.status === 'completed' ? 0 : 1;
}

const isOpen = ({ status }: RunBody): boolean => status === 'starting' || status === 'running';
