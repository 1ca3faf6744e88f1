import { readFileSync } from 'node:fs';

/** The program's version, as package.json says; the same relative place from `src` and `dist`. */
export const VERSION = (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;
