import { commandFlagsOf, type Setting, settingEntries, variablesOf } from './settings-table.js';

/** The table of all settings as docs/configuration.md shows it. */
export function settingsMarkdown(): string {
  const rows = settingEntries.map(([, setting]) =>
    row([
      code(setting.name),
      codes(commandFlagsOf(setting).map(({ name }) => name)),
      codes(variablesOf(setting)),
      preset(setting),
      setting.description,
    ]),
  );
  return [
    row(['key under `server:`', 'flag', 'environment', 'default', 'meaning']),
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

const row = (cells: string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

const code = (text: string): string => `\`${text}\``;

const codes = (texts: string[]): string => texts.map(code).join(', ');

const preset = (setting: Setting): string => (setting.default ? code(setting.default) : 'none');
