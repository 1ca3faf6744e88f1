import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
}

const { version, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;

/** The name of the file that `npm pack` writes. */
export const ARCHIVE = `starling-agents-${version}.tgz`;

/** A shell command that unpacks the archive as npm installs it below `folder`. */
export const unpackInto = (folder: string, archive: string): string =>
  `mkdir -p ${folder}/node_modules/starling-agents && tar -xzf ${archive} -C ${folder}/node_modules/starling-agents --strip-components 1`;

/** Links the dependencies of the unpacked package from this checkout, and the program as npm does. */
export function linkDependencies(folder: string): void {
  const modules = join(folder, 'node_modules');
  const bundled = new Set(
    readdirSync(join(modules, 'starling-agents/node_modules'), { recursive: true, encoding: 'utf8' }),
  );
  for (const name of [...Object.keys(dependencies), '@types/node'].filter((one) => !bundled.has(one))) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  mkdirSync(join(modules, '.bin'));
  symlinkSync('../starling-agents/bin/starling.js', join(modules, '.bin/starling'));
}
