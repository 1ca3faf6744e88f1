import { Option, type Command } from 'commander';
import { flagOf, settingEntries, variableOf, type Setting } from '../config/settings-table.js';

const isBoolean = ({ kind }: Setting): boolean => kind.schema.type === 'boolean';
const isList = ({ kind }: Setting): boolean => kind.placeholder === 'list';

/** Every setting as an option. Values stay as they were typed: the settings' own check finds all wrong ones at once. */
export function addSettingOptions(command: Command, names?: string[]): Command {
  for (const [, setting] of settingEntries) {
    if (!names || names.includes(setting.name)) command.addOption(optionOf(setting));
  }
  return command;
}

/** The settings given on the command line, by their names. */
export function settingFlags(options: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(settingEntries.map(([, setting]) => [setting.name, options[optionOf(setting).attributeName()]]));
}

function optionOf(setting: Setting): Option {
  const value = isBoolean(setting) ? `[${setting.kind.placeholder}]` : `<${setting.kind.placeholder}>`;
  const option = new Option(`${flagOf(setting)} ${value}`, describe(setting));
  return isList(setting) ? option.argParser(joinRepeated) : option;
}

function describe(setting: Setting): string {
  const preset = setting.default ? `default: ${setting.default}, ` : '';
  return `${setting.description} (${preset}env: ${[variableOf(setting), setting.plainVariable].filter(Boolean).join(', ')})`;
}

/** `--cors-origins a --cors-origins b` means the same as `--cors-origins a,b`. */
const joinRepeated = (value: string, before: string | undefined): string => (before === undefined ? value : `${before},${value}`);
