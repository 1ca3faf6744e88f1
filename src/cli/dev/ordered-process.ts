// The entry point of the processes that `starling dev` starts (child.ts).
import { dirname } from 'node:path';

import { UserFrames } from '../../engines/user-frames.js';
import { readConfiguration } from '../configuration.js';
import { describeFailure, failing } from '../failures.js';
import { DEVELOPMENT_DEFAULTS } from './development-defaults.js';
import type { Answer, Order, Stop } from './orders.js';
import { recordUsedModules } from './used-modules.js';

let isStopping = false;

process.on('message', (message: Order | Stop) => {
  if ('stop' in message) stop(message.stop);
  else void failing(message.does === 'check' ? check : serve)(message);
});
// The supervisor has ended, perhaps by SIGKILL. The port and the database must become free.
process.once('disconnect', () => stop('SIGTERM'));

/** A signal for the whole process group has reached this process already, and a second one would end it immediately. */
function stop(signal: NodeJS.Signals): void {
  if (process.connected) process.send!('stopping' satisfies Answer);
  if (!isStopping) process.kill(process.pid, signal);
}

const answer = (what: Answer): Promise<void> => new Promise((resolve) => process.send!(what, () => resolve()));

/** Prints the errors. The exit code is 1 if there are any. */
async function check({ config, flags }: Order): Promise<void> {
  const usedModules = recordUsedModules(new UserFrames(dirname(config)));
  let files = [config];
  let code = 0;
  try {
    const { settings } = await readConfiguration(config, flags, { defaults: DEVELOPMENT_DEFAULTS });
    files = settings.configurationFiles;
  } catch (error) {
    console.error(describeFailure(error));
    code = 1;
  }
  await answer({ files: [...files, ...usedModules()] });
  // A module may have begun something that would keep the process alive.
  process.exit(code);
}

async function serve({ config, flags, text }: Order): Promise<void> {
  const { develop } = await import('../../main.js');
  await develop({ config, flags, text });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (isStopping = true));
  await answer('serving');
}
