import { flagOf, settingEntries, variableOf, type Setting } from './settings-table.js';

/** The table of all settings as the README shows it. */
export function settingsMarkdown(): string {
  const rows = settingEntries.map(([, setting]) => row([code(setting.name), code(flagOf(setting)), variables(setting), preset(setting), setting.description]));
  return [row(['key under `server:`', 'flag', 'environment', 'default', 'meaning']), '|---|---|---|---|---|', ...rows].join('\n');
}

const row = (cells: string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

const code = (text: string): string => `\`${text}\``;

const variables = (setting: Setting): string =>
  [variableOf(setting), setting.plainVariable].filter((name) => name !== undefined).map(code).join(', ');

const preset = (setting: Setting): string => (setting.default ? code(setting.default) : 'none');
