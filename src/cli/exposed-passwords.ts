import { flagsOf, SETTINGS, variableOf } from '../config/settings-table.js';

/**
 * Takes the password of a database URL out of the process list, where a flag holds one, and gives back what to say of it. It stays in the
 * history of a shell, and in the command lines of the processes that started this one.
 */
export function hidePassword(flags: Readonly<Record<string, unknown>>): string | null {
  const { databaseUrl } = SETTINGS;
  if (!holdsPassword(flags[databaseUrl.name])) return null;
  // Node writes it over the command line.
  process.title = 'starling';
  const [value, file] = flagsOf(databaseUrl);
  return `${value!.name}: holds a password, which the process list and the history of a shell show; give the URL as ${variableOf(databaseUrl)}, or in a file that ${file!.name} names`;
}

function holdsPassword(raw: unknown): boolean {
  const url = typeof raw === 'string' ? URL.parse(raw) : null;
  return url !== null && (url.password !== '' || url.searchParams.has('password'));
}
