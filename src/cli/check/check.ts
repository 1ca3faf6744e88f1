import { findingsOf, hasErrors } from './findings.js';
import { type Format, FORMATS } from './formats.js';

/** Prints what is wrong with a configuration file. Returns whether it has no errors. */
export async function check(file: string, format: Format): Promise<boolean> {
  const print = keepStdout();
  const found = await findingsOf(file);
  print(FORMATS[format](found));
  return !hasErrors(found);
}

/**
 * Returns the function that prints a text. From now on, it alone writes to stdout, which a program may read: what the
 * modules of agents write there goes to stderr.
 */
export function keepStdout(): (text: string) => void {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  return (text) => void (text !== '' && write(`${text}\n`));
}
