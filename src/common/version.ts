import { MANIFEST } from './manifest.js';

/** The program's version from package.json. */
export const VERSION = MANIFEST.version;
