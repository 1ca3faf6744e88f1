import { readFileSync } from 'node:fs';

interface Manifest {
  name: string;
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  /** The packages that only some configurations need, and the range of their versions. */
  peerDependencies: Record<string, string>;
}

/** The package.json of this program. The relative path is the same from `src` and from `dist`. */
export const MANIFEST = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Manifest;
