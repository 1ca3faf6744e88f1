import { relative } from 'node:path';

import { readEnvironment } from '../../config/environment.js';
import { whenNpxEnds } from '../npx.js';
import { WatchedConfiguration } from '../watch/watched-configuration.js';
import type { Format } from './formats.js';

/** Checks a configuration file now and after each change of a file that it depends on, until a signal. */
export async function checkChanges(file: string, format: Format): Promise<void> {
  const configuration = new WatchedConfiguration({ config: file, flags: {}, format });
  // The process that checks ends with this one.
  const stop = (): void => process.exit(0);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  whenNpxEnds(readEnvironment(), stop);
  for (;;) {
    await configuration.check();
    say('waiting for a change');
    const changed = await configuration.changed();
    say(`${changed.map((name) => relative('.', name)).join(', ')} changed`);
  }
}

const say = (text: string): void => console.error(`starling check: ${text}`);
