// The entry point of the processes that follow changes of files (child.ts).
import { dirname } from 'node:path';

import { keepStdout } from '../check/check.js';
import { findingsOf, hasErrors } from '../check/findings.js';
import { FORMATS } from '../check/formats.js';
import { failing } from '../failures.js';
import type { Answer, CheckOrder, Order, ServeOrder, Stop } from './orders.js';
import { reportUsedModules } from './used-modules.js';

let isStopping = false;

process.on('message', (message: Order | Stop) => {
  if ('stop' in message) stop(message.stop);
  else if (message.does === 'check') void failing(check)(message);
  else void failing(serve)(message);
});
// The supervisor has ended, perhaps by SIGKILL. The port and the database must become free.
process.once('disconnect', () => stop('SIGTERM'));

/** A signal for the whole process group has reached this process already, and a second one would end it immediately. */
function stop(signal: NodeJS.Signals): void {
  if (process.connected) process.send!('stopping' satisfies Answer);
  if (!isStopping) process.kill(process.pid, signal);
}

const answer = (what: Answer): Promise<void> => new Promise((resolve) => process.send!(what, () => resolve()));

/** The exit code is 1 if there are errors. */
async function check({ config, flags, defaults, format, text }: CheckOrder): Promise<void> {
  // Sent while it loads, because a module that loops keeps this process from answering later.
  const reports: Promise<void>[] = [];
  reportUsedModules(dirname(config), (file) => reports.push(answer({ file })));
  const print = keepStdout();
  const found = await findingsOf(config, flags, { defaults, text });
  if (format !== null) print(FORMATS[format](found));
  else if (hasErrors(found)) console.error(FORMATS.text(found));
  await Promise.all([...reports, ...found.files.map((file) => answer({ file }))]);
  // A module may have begun something that would keep the process alive.
  process.exit(hasErrors(found) ? 1 : 0);
}

async function serve({ config, flags, text }: ServeOrder): Promise<void> {
  const { develop } = await import('../../main.js');
  await develop({ config, flags, text });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (isStopping = true));
  await answer('serving');
}
