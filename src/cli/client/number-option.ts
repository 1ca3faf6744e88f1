import { ClientError } from './client-errors.js';

/** Its bounds are the server's to check. ClientError, which names the option, where it is no number. */
export function numberOf(option: string, given: string): number {
  const number = Number(given);
  if (given.trim() === '' || !Number.isFinite(number)) throw new ClientError(`${option}: must be a number (got ${JSON.stringify(given)})`);
  return number;
}
