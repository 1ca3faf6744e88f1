import { ClientError } from './client-errors.js';

/** Parses a number; the server checks its bounds. Throws a ClientError that names the option if it is not a number. */
export function numberOf(option: string, given: string): number {
  const number = Number(given);
  if (given.trim() === '' || !Number.isFinite(number))
    throw new ClientError(`${option}: must be a number (got ${JSON.stringify(given)})`);
  return number;
}
