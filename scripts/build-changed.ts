import { execFileSync, type StdioOptions } from 'node:child_process';
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/** A part of `dist`, the script that builds it, and the files and folders that it is built from. */
export interface Target {
  script: string;
  /** A file whose time is the time when the sources were read. */
  stamp: string;
  sources: string[];
  /** The other targets that the script also builds. */
  alsoBuilds: Target[];
}

export const DASHBOARD: Target = {
  script: 'build:dashboard',
  stamp: join(ROOT, 'dist/.built-dashboard'),
  sources: ['dashboard', 'licenses', 'package.json'],
  alsoBuilds: [],
};

/** `npm run build` deletes `dist`, so it has to build the web app again. */
export const PROGRAM: Target = {
  script: 'build',
  stamp: join(ROOT, 'dist/.built'),
  sources: [
    'src',
    'licenses',
    'vite.config.ts',
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'nest-cli.json',
  ],
  alsoBuilds: [DASHBOARD],
};

/** Returns whether a source is newer than what was built of it, or nothing was built. */
export function isStale({ stamp, sources }: Target): boolean {
  const built = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return sources.flatMap(filesOf).some((file) => statSync(join(ROOT, file)).mtimeMs > built);
}

const filesOf = (source: string): string[] =>
  statSync(join(ROOT, source)).isFile()
    ? [source]
    : readdirSync(join(ROOT, source), { recursive: true, encoding: 'utf8' }).map((file) => join(source, file));

/** Throws what `execFileSync` throws if the script fails. */
export function build({ script, stamp, alsoBuilds }: Target, stdio: StdioOptions): void {
  const began = new Date();
  execFileSync('npm', ['run', script], { cwd: ROOT, stdio, encoding: 'utf8' });
  for (const path of [stamp, ...alsoBuilds.map((other) => other.stamp)]) {
    writeFileSync(path, '');
    utimesSync(path, began, began);
  }
}

// As a program (`npm start`), it builds what changed since it last ran.
if (import.meta.main) for (const target of [PROGRAM, DASHBOARD]) if (isStale(target)) build(target, 'inherit');
