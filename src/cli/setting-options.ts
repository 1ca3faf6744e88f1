import { type Command, Option } from 'commander';

import { type SettingProblem, SettingsError } from '../config/resolve-settings.js';
import {
  commandFlagsOf,
  type Flag,
  flagsOf,
  type Setting,
  settingEntries,
  SETTINGS,
  variableOf,
  variablesOf,
} from '../config/settings-table.js';

const settings = settingEntries.map(([, setting]) => setting);

const isBoolean = ({ type }: Setting): boolean => type.schema.type === 'boolean';
const isList = ({ type }: Setting): boolean => type.placeholder === 'list';

/** Adds every setting as options. Values stay unparsed, because `resolveSettings` reports all wrong ones together. */
export function addSettingOptions(command: Command, names?: string[]): Command {
  for (const setting of settings.filter(({ name }) => !names || names.includes(name))) {
    for (const flag of flagsOf(setting)) command.addOption(optionOf(setting, flag));
  }
  return command;
}

/**
 * The settings from the command line, by the keys of their flags. Throws a SettingsError if a secret is given as a
 * value.
 */
export function settingFlags(options: Record<string, unknown>): Record<string, unknown> {
  const given = settings.flatMap((setting) =>
    flagsOf(setting).map((flag) => ({ setting, flag, value: options[optionOf(setting, flag).attributeName()] })),
  );
  const problems = given
    .filter(({ setting, flag, value }) => value !== undefined && !isTaken(setting, flag))
    .map(({ setting, flag }) => problemOf(setting, flag));
  if (problems.length > 0) throw new SettingsError(problems);
  return Object.fromEntries(given.map(({ flag, value }) => [flag.key, value]));
}

const isTaken = (setting: Setting, flag: Flag): boolean => commandFlagsOf(setting).some(({ key }) => key === flag.key);

function problemOf(setting: Setting, flag: Flag): SettingProblem {
  const ways = [...commandFlagsOf(setting).map(({ name }) => name), ...variablesOf(setting)];
  return {
    source: flag.name,
    message: `a secret cannot be a flag, because the process list shows flags; use ${ways.slice(0, -1).join(', ')} or ${ways.at(-1)!}`,
  };
}

/**
 * A flag that is not accepted is a hidden option, so that its use causes a helpful error that does not show the value.
 */
function optionOf(setting: Setting, flag: Flag): Option {
  if (!isTaken(setting, flag)) return new Option(`${flag.name} [value]`).hideHelp();
  if (flag.isFile)
    return new Option(`${flag.name} <path>`, describe(setting, `file with the value of ${setting.name}`));
  const value = isBoolean(setting) ? `[${setting.type.placeholder}]` : `<${setting.type.placeholder}>`;
  const option = new Option(`${flag.name} ${value}`, describe(setting, setting.description));
  return isList(setting) ? option.argParser(joinRepeated) : option;
}

function describe(setting: Setting, description: string): string {
  const preset = setting.default ? `default: ${setting.default}, ` : '';
  return `${description} (${preset}env: ${variablesOf(setting).join(', ')})`;
}

/** `--cors-origins a --cors-origins b` means the same as `--cors-origins a,b`. */
const joinRepeated = (value: string, before: string | undefined): string =>
  before === undefined ? value : `${before},${value}`;

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
