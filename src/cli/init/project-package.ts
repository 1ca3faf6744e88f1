import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

import { MANIFEST } from '../../common/manifest.js';
import { PACKAGE } from '../../common/package-files.js';
import type { Template } from './templates.js';

interface ProjectManifest {
  type?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

const { name: OWN_NAME, version: OWN_VERSION, dependencies: OWN_DEPENDENCIES, devDependencies: OWN_TOOLS } = MANIFEST;
const INSTALLED = join('node_modules', OWN_NAME);

/** Returns the folder, this one or one above it, in which this package is installed for the modules of `folder`. */
export function installedFor(folder: string): string | null {
  if (existsSync(join(folder, INSTALLED))) return folder;
  return dirname(folder) === folder ? null : installedFor(dirname(folder));
}

/** Returns the path of the schema for a file in `folder`; if the package is not installed, where it will be. */
export function schemaPath(folder: string): string {
  const path = join(relative(folder, installedFor(folder) ?? folder), INSTALLED, 'schema/starling.schema.json');
  return path.startsWith('.') ? path : `./${path}`;
}

/** Returns a new package.json; null if the folder has one, or belongs to a project that has installed this package. */
export function newManifest(folder: string, { scripts, dependencies = [], devDependencies = [] }: Template) {
  if (existsSync(join(folder, 'package.json')) || installedFor(folder) !== null) return null;
  return {
    name: nameFor(folder),
    private: true,
    type: 'module',
    scripts,
    dependencies: { ...versionsOf(dependencies), [OWN_NAME]: sourceFor(folder) },
    devDependencies: versionsOf(devDependencies),
  };
}

/** Returns the commands that an existing package.json needs before the template works in its folder. */
export function missingSteps(folder: string, { dependencies = [], devDependencies = [] }: Template): string[] {
  const home = installedFor(folder);
  const file = join(home ?? folder, 'package.json');
  const manifest: ProjectManifest = existsSync(file) ? read(file) : {};
  const missing = (names: string[]): string[] =>
    Object.entries(versionsOf(names))
      .filter(([name]) => !(name in { ...manifest.dependencies, ...manifest.devDependencies }))
      .map(([name, version]) => `${name}@${version}`);
  const runtime = [...(home === null ? [sourceFor(folder)] : []), ...missing(dependencies)];
  const development = missing(devDependencies);
  return [
    ...(manifest.type === 'module' ? [] : ['npm pkg set type=module']),
    ...(runtime.length > 0 ? [`npm install ${runtime.join(' ')}`] : []),
    ...(development.length > 0 ? [`npm install --save-dev ${development.join(' ')}`] : []),
  ];
}

/** From where npm can install this package again: the archive from which it was installed, a registry, or its folder. */
function sourceFor(folder: string): string {
  const home = resolve(PACKAGE, '../..');
  const lock = join(home, 'node_modules/.package-lock.json');
  const { packages = {} } = existsSync(lock) ? read<{ packages?: Record<string, { resolved?: string }> }>(lock) : {};
  const resolved = packages[`node_modules/${OWN_NAME}`]?.resolved;
  if (resolved?.startsWith('http')) return OWN_VERSION;
  const path = resolved?.startsWith('file:') ? resolve(home, resolved.slice('file:'.length)) : PACKAGE;
  return `file:${relative(folder, path)}`;
}

const versionsOf = (names: string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, (OWN_DEPENDENCIES[name] ?? OWN_TOOLS[name])!]));

/** npm allows small letters, digits and `-._~`. */
const nameFor = (folder: string): string =>
  basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._~-]+/g, '-')
    .replace(/^[._-]+/, '') || 'agents';

function read<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}
