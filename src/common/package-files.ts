import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this package. The relative path is the same from `src/common`, `dist/common` and the bundles. */
export const PACKAGE = fileURLToPath(new URL('../../', import.meta.url));

/** Returns the path of a file or folder of this package. */
export const packageFile = (path: string): string => join(PACKAGE, path);
