import { createHash } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { findPackageJSON, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

import type { AgentCode } from '../../catalog/stored-definition.js';
import { UserFrames } from '../user-frames.js';

/** The URLs that each of the user's modules imports, keyed by the URL of the module. */
const imports = new Map<string, Set<string>>();

/**
 * Records from now on what modules import. Node resolves an import once for each module that has it, so call this before
 * the first agent is loaded. Without it, `codeOf` knows only the module itself.
 */
export function recordImports(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const { parentURL } = context;
      if (parentURL?.startsWith('file:') && resolved.url.startsWith('file:') && !parentURL.includes('/node_modules/'))
        imports.set(parentURL, (imports.get(parentURL) ?? new Set()).add(resolved.url));
      return resolved;
    },
  });
}

/**
 * Returns the local files that a module has imported in this process, itself included, and the packages that these
 * import. `folder`: an existing folder, where the paths start.
 */
export function codeOf(module: string, folder: string): AgentCode {
  const frames = new UserFrames(folder);
  const code: AgentCode = { files: {}, packages: {} };
  const found = new Set([pathToFileURL(realpathSync(module)).href]);
  for (const url of found) {
    const path = frames.pathOf(url);
    if (path === null) addPackage(code, url);
    else {
      code.files[path] = createHash('sha256')
        .update(readFileSync(new URL(url)))
        .digest('hex');
      for (const imported of imports.get(url) ?? []) found.add(imported);
    }
  }
  return code;
}

function addPackage({ packages }: AgentCode, url: string): void {
  const manifest = findPackageJSON(url);
  if (manifest === undefined) return;
  const { name, version } = JSON.parse(readFileSync(manifest, 'utf8')) as { name?: string; version?: string };
  packages[name ?? fileURLToPath(url)] = version ?? '';
}
