import { resolve } from 'node:path';

import { readEnvironment } from '../../config/environment.js';
import { configurationFile, missingFile } from '../configuration.js';
import { whenNpxEnds } from '../npx.js';
import { Supervisor } from './supervisor.js';

/** Serves the configuration file and follows its changes until a signal. Rejects if there is no such file. */
export async function develop(config: string | undefined, flags: Record<string, unknown>): Promise<void> {
  const file = configurationFile(config);
  if (file === undefined) throw missingFile();
  const supervisor = new Supervisor({ config: resolve(file), flags });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => supervisor.stop(signal));
  whenNpxEnds(readEnvironment(), () => supervisor.stop('SIGTERM'));
  await supervisor.run();
  // The files are still followed.
  process.exit(0);
}
