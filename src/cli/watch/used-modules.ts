import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

import { UserFrames } from '../../engines/user-frames.js';

/**
 * Records from now on which of the user's modules this process imports, and which it does not find. Returns a function that lists their
 * absolute paths. `folder`: the configuration file's.
 */
export function recordUsedModules(folder: string): () => string[] {
  // The configuration file is missing, too.
  if (!existsSync(folder)) return () => [];
  const frames = new UserFrames(folder);
  const used = new Set<string>();
  const record = (url: string): void => {
    if (url.startsWith('file:') && frames.pathOf(url) !== null) used.add(fileURLToPath(url));
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
  return () => [...used];
}
