import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { JsonObject } from '../../common/json.js';
import { ClientError } from './client-errors.js';

/**
 * JSON as it is given on the command line: itself, `@<file>`, or `-` for standard input. That it is an object is the server's
 * to say. ClientError, which names the argument, where it cannot be read.
 */
export async function readJsonArgument(name: string, given: string): Promise<JsonObject> {
  const source = await sourceOf(name, given);
  try {
    return JSON.parse(source) as JsonObject;
  } catch (error) {
    throw new ClientError(`${name}: is not valid JSON: ${(error as Error).message}`);
  }
}

async function sourceOf(name: string, given: string): Promise<string> {
  if (given === '-') return text(process.stdin);
  if (!given.startsWith('@')) return given;
  try {
    return await readFile(given.slice(1), 'utf8');
  } catch (error) {
    throw new ClientError(`${name}: cannot read ${given.slice(1)} (${(error as NodeJS.ErrnoException).code})`);
  }
}
