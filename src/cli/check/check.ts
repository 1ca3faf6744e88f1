import { type Findings, findingsOf, hasErrors } from './findings.js';
import { type Format, FORMATS } from './formats.js';

/** Prints what is wrong with a configuration file. Returns whether it has no errors. */
export async function check(file: string, format: Format): Promise<boolean> {
  const found = await findingsOf(file);
  print(found, format);
  return !hasErrors(found);
}

export function print(found: Findings, format: Format): void {
  const text = FORMATS[format](found);
  if (text !== '') console.log(text);
}
