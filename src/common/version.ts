import { readFileSync } from 'node:fs';

/** The program's version from package.json. The relative path is the same from `src` and from `dist`. */
export const VERSION = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
