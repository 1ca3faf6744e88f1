import { createInterface } from 'node:readline/promises';

import { ClientError } from '../client-errors.js';

/** Asks a question on the terminal. Throws a ClientError if the answer is not yes, or if the program does not run in a terminal. */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new ClientError(`${question} This is not a terminal, so nothing was asked; add --yes to do it`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new AbortController();
  // Ctrl-C and the end of the input are a no.
  terminal.on('close', () => closed.abort());
  const answer = await terminal.question(`${question} [y/N] `, { signal: closed.signal }).catch(() => '');
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new ClientError('nothing was cancelled');
}
