import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageFile } from '../../common/package-files.js';

/** Returns the text of a file that generated clients contain unchanged, by its path in `clients`. */
export const template = (path: string): string => readFileSync(packageFile(join('clients', path)), 'utf8');
