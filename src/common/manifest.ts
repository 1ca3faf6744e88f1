import { readFileSync } from 'node:fs';

import { packageFile } from './package-files.js';

interface Manifest {
  name: string;
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  /** The packages that only some configurations need, and the range of their versions. */
  peerDependencies: Record<string, string>;
}

/** The package.json of this program. */
export const MANIFEST = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as Manifest;
