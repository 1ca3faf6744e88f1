import { flagsOf, SETTINGS, variableOf } from '../config/settings-table.js';

/**
 * Hides the password of a database URL in a flag from the process list, and returns a warning; null if there is none.
 * The password remains in the shell's history and in the command lines of the processes that started this one.
 */
export function hidePassword(flags: Readonly<Record<string, unknown>>): string | null {
  const { databaseUrl } = SETTINGS;
  if (!holdsPassword(flags[databaseUrl.name])) return null;
  // Node overwrites the command line with the title.
  process.title = 'starling';
  const [value, file] = flagsOf(databaseUrl);
  return `${value!.name}: contains a password, which is visible in the process list and the shell history; use ${variableOf(databaseUrl)} or ${file!.name} instead`;
}

function holdsPassword(raw: unknown): boolean {
  const url = typeof raw === 'string' ? URL.parse(raw) : null;
  return url !== null && (url.password !== '' || url.searchParams.has('password'));
}
