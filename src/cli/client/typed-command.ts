import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

import { readEnvironment } from '../../config/environment.js';
import { DEFAULT_SERVER_URL } from '../../config/resolve-settings.js';

/** Folders that npm and npx add to the PATH of their child processes. The user's shell does not have them. */
const OF_NPM = /[/\\]node_modules[/\\]\.bin[/\\]?$/;

/** The command that starts this program: `starling` if the user's shell finds it, otherwise `npx starling`. */
export function programName(): string {
  const folders = (readEnvironment().PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '' && !OF_NPM.test(folder));
  return folders.some((folder) => isProgram(join(folder, 'starling')) || isProgram(join(folder, 'starling.cmd')))
    ? 'starling'
    : 'npx starling';
}

/** A command for the user to type, for the server at `url`. */
export function typedCommand(url: string, ...words: string[]): string {
  const server = url === DEFAULT_SERVER_URL ? [] : ['--url', url];
  return `${programName()} ${[...words, ...server].map(shellWord).join(' ')}`;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const shellWord = (word: string): string =>
  /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
