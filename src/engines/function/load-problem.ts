import { execFile } from 'node:child_process';

import { asError } from '../agent-code.js';
import type { UserFrames } from '../user-frames.js';

/** A place before the line of code that Node shows, with a caret below the column. */
const SHOWN_CODE = /^(?<file>(?:file:\/\/|\/|[A-Za-z]:[\\/]).*):(?<line>\d+)\n(?:.*\n)*?(?<before> *)\^/m;

/** The same without a caret, as Node shows code that ends too early. */
const SHOWN_END = /^(?<file>(?:file:\/\/|\/|[A-Za-z]:[\\/]).*):(?<line>\d+)\n/;

const LONGEST_MS = 10_000;

/** Says why the import of a module failed, and where if that is known. `url`: the module's. */
export async function loadProblem(thrown: unknown, url: string, frames: UserFrames): Promise<string> {
  const error = asError(thrown);
  const stack = error.stack ?? '';
  const place =
    placeIn(stack, frames) ??
    (error.name === 'SyntaxError' ? placeIn(await uncaught(url), frames) : null) ??
    frames.firstPlace({ stack, message: error.message });
  return place === null ? error.message : `${error.message} (${place})`;
}

function placeIn(text: string, frames: UserFrames): string | null {
  const { file, line, before } = (SHOWN_CODE.exec(text) ?? SHOWN_END.exec(text))?.groups ?? {};
  if (file === undefined) return null;
  const place = `${frames.pathOf(file) ?? file}:${line}`;
  return before === undefined ? place : `${place}:${before.length + 1}`;
}

/**
 * Returns what Node prints if the import is not caught. For a syntax error in JavaScript it has the place, which no
 * property of the error has.
 */
const uncaught = (url: string): Promise<string> =>
  new Promise((resolve) => {
    const args = ['--input-type=module', '--eval', 'await import(process.argv[1])', url];
    execFile(process.execPath, args, { timeout: LONGEST_MS }, (_error, _stdout, stderr) => resolve(stderr));
  });
