import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

import type { JsonObject } from '../../common/json.js';
import { parseDuration } from '../../common/units.js';
import { ClientError } from './client-errors.js';

/**
 * Parses JSON from the command line: literal JSON, `@<file>`, or `-` for standard input. The server checks whether it
 * is an object. Throws a ClientError that names the argument if it cannot be read or parsed.
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

/** Parses a number; the server checks its bounds. Throws a ClientError that names the option if it is not a number. */
export function numberOf(option: string, given: string): number {
  const number = Number(given);
  if (given.trim() === '' || !Number.isFinite(number))
    throw new ClientError(`${option}: must be a number (got ${JSON.stringify(given)})`);
  return number;
}

/**
 * Parses a duration such as `1m` or `PT1M`, or a number of seconds, into seconds; the server checks its bounds. Throws a
 * ClientError that names the option if it is neither.
 */
export function secondsOf(option: string, given: string): number {
  const duration = parseDuration(given);
  if (duration !== null) return duration / 1_000;
  const seconds = Number(given);
  if (given.trim() === '' || !Number.isFinite(seconds))
    throw new ClientError(
      `${option}: must be a duration such as 30s, or a number of seconds (got ${JSON.stringify(given)})`,
    );
  return seconds;
}
