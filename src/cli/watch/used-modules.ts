import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

import { UserFrames } from '../../engines/user-frames.js';

/**
 * From now on, calls `found` with the absolute path of each of the user's modules that this process imports or does not find.
 * `folder`: the configuration file's.
 */
export function reportUsedModules(folder: string, found: (file: string) => void): void {
  // The configuration file is missing, too.
  if (!existsSync(folder)) return;
  const frames = new UserFrames(folder);
  const record = (url: string): void => {
    if (url.startsWith('file:') && frames.pathOf(url) !== null) found(fileURLToPath(url));
  };
  registerHooks({
    resolve(specifier, context, next) {
      try {
        const resolved = next(specifier, context);
        record(resolved.url);
        return resolved;
      } catch (error) {
        // A file that appears later mends this import.
        if (/^(\.|\/|file:)/.test(specifier)) record(new URL(specifier, context.parentURL).href);
        throw error;
      }
    },
  });
}
