import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

import type { UserFrames } from '../../engines/user-frames.js';

/**
 * Records from now on which of the user's modules this process imports, and which it does not find. Returns a function that lists their
 * absolute paths.
 */
export function recordUsedModules(frames: UserFrames): () => string[] {
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
