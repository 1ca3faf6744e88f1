import type { Environment } from './environment.js';
import { httpUrl } from './network-types.js';
import { SettingsError } from './resolve-settings.js';
import { SERVER_URL_VARIABLE } from './settings-table.js';

/** The address at which `starling serve` listens by default. */
export const DEFAULT_SERVER_URL = 'http://127.0.0.1:8344';

/**
 * Base URL of the server for client commands, without a trailing slash. Throws a SettingsError if it is not an http
 * URL.
 */
export function serverUrl(flag: string | undefined, environment: Environment): string {
  const variable = environment[SERVER_URL_VARIABLE] || undefined;
  const [source, raw] = flag !== undefined ? ['--url', flag] : [SERVER_URL_VARIABLE, variable ?? DEFAULT_SERVER_URL];
  const type = httpUrl();
  const result = type.parse(raw);
  if ('wrong' in result) throw new SettingsError([`${source}: must be ${type.expected} (got ${JSON.stringify(raw)})`]);
  return result.value.replace(/\/+$/, '');
}
