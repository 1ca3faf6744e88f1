import { readFileSync } from 'node:fs';

const TEMPLATES = new URL('../../../clients/', import.meta.url);

/** Returns the text of a file that generated clients contain unchanged, by its path in `clients`. */
export const template = (path: string): string => readFileSync(new URL(path, TEMPLATES), 'utf8');
